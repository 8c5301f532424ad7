# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Roots: directories with unpacked Debian packages. One holds QEMU; one per kernel release holds the kernel, its headers
# and the compiler that belongs to them. The default release's root also holds the guest's programs.

readonly DEFAULT_RELEASE=trixie

# suites_of RELEASE: the suites to take packages from, the preferred one last.
suites_of() {
    case $1 in
        bookworm | trixie) printf '%s\n' "$1" ;;
        backports) printf 'trixie trixie-backports\n' ;;
        *) die "unknown release '$1': bookworm, trixie or backports" ;;
    esac
}

# provide_root RELEASE: sets ROOT.
provide_root() {
    local release=$1 suites
    suites=$(suites_of "$release")
    local -a lists=("$IMAGES/packages/toolchain.list")
    [[ $release != "$DEFAULT_RELEASE" ]] || lists+=("$IMAGES/packages/guest.list")
    cached "root-$release" "$(content_key "${lists[@]}" "$IMAGES/lib/root.sh" "$IMAGES/lib/debs.sh")" \
        make_root "$suites" "${lists[@]}"
    ROOT=$ENTRY
}

make_root() {
    local dir=$1 suites=$2
    shift 2
    unpack_debs "$dir" "$suites" "$@"
    # What the packages' own scripts would have done, as far as compilers and Kbuild need it.
    ln -s mawk "$dir/usr/bin/awk"
    ln -s gcc "$dir/usr/bin/cc"
    printf 'root:x:0:0:root:/root:/bin/sh\n' >"$dir/etc/passwd"
    printf 'root:x:0:\n' >"$dir/etc/group"
    root_program "$dir" depmod -b "$dir/usr" "$(ls "$dir/usr/lib/modules")"
}

# program_of ROOT NAME: prints the path of a program in a root.
program_of() {
    local dir path
    for dir in bin sbin; do
        path=$1/usr/$dir/$2
        # A link to /bin/kmod, say, means the one in the root.
        while [[ -L $path ]]; do
            case $(readlink "$path") in
                /*) path=$1$(readlink "$path") ;;
                *) path=${path%/*}/$(readlink "$path") ;;
            esac
        done
        if [[ -f $path ]]; then
            printf '%s\n' "$path"
            return
        fi
    done
    die "$1 has no program $2"
}

# root_program ROOT PROGRAM ARG...: runs one program of a root on this host's files, with the root's own loader.
root_program() {
    local root=$1 name=$2 program
    program=$(program_of "$root" "$name")
    shift 2
    "$root/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2" --library-path "$root/usr/lib/x86_64-linux-gnu" --argv0 "$name" "$program" "$@"
}

# provide_qemu_root: sets QEMU_ROOT. Debian 13 itself has QEMU 10.0, which lacks vfio-user-pci; its backports do not.
provide_qemu_root() {
    local list=$IMAGES/packages/qemu.list
    cached qemu "$(content_key "$list" "$IMAGES/lib/root.sh" "$IMAGES/lib/debs.sh" "$IMAGES/lib/qemu.sh")" \
        make_qemu_root "$list"
    QEMU_ROOT=$ENTRY
}

make_qemu_root() {
    local dir=$1 list=$2
    unpack_debs "$dir" "$(suites_of backports)" "$list"
    write_qemu_wrapper "$dir"
    check_qemu "$dir/qemu-system-x86_64" >"$dir/.version" || die "the QEMU just unpacked is unusable"
}
