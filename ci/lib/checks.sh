# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Checks that Maven does not run. Each returns 0, or 1 after it has said what is wrong. Needs ROOT.

# install_tools: in continuous integration, as root, installs what single tests want and are skipped without: shellcheck,
# and lspci, which reads what "probe" prints.
install_tools() {
    local -a missing=()
    [[ ${CI:-} == true && $EUID -eq 0 ]] || return 0
    command -v shellcheck >/dev/null || missing+=(shellcheck)
    command -v lspci >/dev/null || missing+=(pciutils)
    [[ ${#missing[@]} -gt 0 ]] || return 0
    say "installing ${missing[*]}"
    { apt-get -q update && apt-get -q -y --no-install-recommends install "${missing[@]}"; } >/dev/null 2>&1 ||
        say "they cannot be installed: what needs them is skipped"
}

check_shell() {
    local -a scripts
    if ! command -v shellcheck >/dev/null; then
        say 'shell scripts: skipped, there is no shellcheck (apt-get install shellcheck)'
        return 0
    fi
    mapfile -t scripts < <(cd "$ROOT" && git ls-files -z |
        xargs -0 awk 'FNR == 1 { if (/^#!.*[\/ ](ba)?sh$/) print FILENAME; nextfile }')
    say "shell scripts: ${#scripts[@]} files"
    (cd "$ROOT" && shellcheck -x "${scripts[@]}")
}

check_images() {
    say 'images'
    "$ROOT/images/test"
}

check_qemu_config() {
    say 'QEMU fragments'
    "$ROOT/qemu-config/test"
}

# The driver once more, for each kernel it is for, with every warning an error, sparse, and its own tests.
check_driver() {
    say 'guest driver'
    "$ROOT/images/check-driver" trixie bookworm backports
}
