# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Debian packages, unpacked into a directory without installing them: apt resolves, downloads and checks signatures,
# with a state of its own; tar unpacks. No maintainer script runs, so neither root nor a chroot is needed, and the
# result is the same for root and for an ordinary user.

# Prints the URI of the Debian archive that this machine's own apt uses.
debian_mirror() {
    local mirror=${BACKPLANE_MIRROR:-}
    if [[ -z $mirror ]]; then
        need apt-get "this script makes its images from Debian packages: run it on Debian 12 or newer"
        # What the sources say, and not the lists: a fresh machine has none.
        # shellcheck disable=SC2016 # apt's variables
        mirror=$(apt-get indextargets --no-release-info --format '$(SITE) $(RELEASE)' 'Created-By: Packages' |
            awk '$2 ~ /^(bookworm|trixie|forky|duke|sid|oldstable|stable|testing|unstable)$/ { print $1; exit }')
    fi
    [[ -n $mirror ]] || die "apt on this machine has no Debian archive configured: set BACKPLANE_MIRROR to its URI"
    printf '%s\n' "$mirror"
}

# signed_by: the sources.list option that names the archive's keys, where the machine keeps them in the usual place.
signed_by() {
    local keys
    for keys in /usr/share/keyrings/debian-archive-keyring.{gpg,pgp}; do
        if [[ -r $keys ]]; then
            printf '[signed-by=%s]' "$keys"
            return
        fi
    done
}

# apt_state DIR SUITE...: writes an apt configuration with a state of its own; the last suite is the preferred one.
apt_state() {
    local dir=$1 mirror suite
    shift
    mirror=$(debian_mirror)
    mkdir -p "$dir/lists/partial" "$dir/archives/partial"
    : >"$dir/status"
    for suite in "$@"; do
        printf 'deb %s %s %s main\n' "$(signed_by)" "$mirror" "$suite"
    done >"$dir/sources.list"
    # The machine's own settings (proxies, for instance) stay in force; its hooks do not.
    cat >"$dir/apt.conf" <<EOF
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear DPkg::Pre-Install-Pkgs;
#clear DPkg::Post-Invoke;
Dir::State "$dir";
Dir::State::Lists "$dir/lists";
Dir::State::status "$dir/status";
Dir::Cache "$dir";
Dir::Cache::Archives "$dir/archives";
Dir::Log "$dir";
Dir::Etc::SourceList "$dir/sources.list";
Dir::Etc::SourceParts "/dev/null";
Dir::Etc::Preferences "/dev/null";
Dir::Etc::PreferencesParts "/dev/null";
APT::Architecture "amd64";
APT::Architectures { "amd64"; };
APT::Default-Release "${*: -1}";
APT::Install-Recommends "false";
APT::Install-Suggests "false";
APT::Sandbox::User "";
Acquire::Languages "none";
Acquire::Retries "3";
EOF
}

# unpack_debs ROOT "SUITE..." LIST...: unpacks the packages named in the list files, and what they depend on, into ROOT.
unpack_debs() {
    local root=$1 suites=$2 scratch
    shift 2
    local -a names
    mapfile -t names < <(sed 's/#.*//' "$@" | xargs -n 1)
    scratch=$(mktemp -d "${root%/*}/.debs.XXXXXX")
    # shellcheck disable=SC2086 # several suites in one string
    apt_state "$scratch" $suites
    say "  package lists of $suites"
    APT_CONFIG=$scratch/apt.conf apt-get -q update >"$scratch/log" 2>&1 || apt_failed "$scratch/log"
    say "  downloading ${names[*]:0:4} … and what they need"
    APT_CONFIG=$scratch/apt.conf apt-get -q -y --download-only install "${names[@]}" >"$scratch/log" 2>&1 ||
        apt_failed "$scratch/log"
    say "  unpacking $(find "$scratch/archives" -name '*.deb' | wc -l) packages"
    merged_usr "$root"
    # shellcheck disable=SC2016 # expanded by the inner shell
    find "$scratch/archives" -name '*.deb' -print0 | LC_ALL=C sort -z |
        xargs -0 -n 1 -P "$(nproc)" bash -o pipefail -euc '
            dpkg-deb --fsys-tarfile "$1" |
                tar -x -C "$0" --keep-directory-symlink --no-same-owner --no-same-permissions --exclude="./dev/*"
        ' "$root"
    # shellcheck disable=SC2016 # variables of dpkg
    find "$scratch/archives" -name '*.deb' -exec dpkg-deb --show --showformat '${Package} ${Version}\n' {} \; |
        LC_ALL=C sort >"$root/.packages"
    remove_tree "$scratch"
}

apt_failed() {
    tail -n 15 "$1" >&2
    die "apt could not fetch the packages (its last words are above); is the package mirror reachable?"
}

# Packages older than Debian 13 ship files in /bin and /lib and leave the merging of those into /usr to the installer.
merged_usr() {
    local dir
    for dir in bin lib lib64 sbin; do
        mkdir -p "$1/usr/$dir"
        ln -s "usr/$dir" "$1/$dir"
    done
    mkdir -p "$1"/{dev,proc,sys,tmp,work}
}
