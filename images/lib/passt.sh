# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# passt: the one named by BACKPLANE_PASST, else the machine's own if it is new enough, else the cached one. It is not
# needed but for the way to the outside: where it cannot be had, everything else works.

# provide_passt: sets PASST; ends with an error where it cannot be had.
provide_passt() {
    local own
    if [[ -n ${BACKPLANE_PASST:-} ]]; then
        check_passt "$BACKPLANE_PASST" || die "BACKPLANE_PASST=$BACKPLANE_PASST is not a passt of 2024-08 or newer"
        PASST=$BACKPLANE_PASST
    elif own=$(command -v passt) && check_passt "$own"; then
        PASST=$own
    else
        cached passt \
            "$(content_key "$IMAGES/packages/passt.list" "$IMAGES/lib/passt.sh" "$IMAGES/lib/debs.sh")" make_passt
        PASST=$ENTRY/passt
    fi
}

# check_passt PROGRAM: whether it lets us choose the address that stands for the host's loopback interface.
check_passt() { "$1" --help 2>&1 | grep -q -- --map-host-loopback; }

make_passt() {
    local dir=$1
    unpack_debs "$dir" "$(suites_of backports)" "$IMAGES/packages/passt.list"
    cat >"$dir/passt" <<'EOS'
#!/bin/sh
# Runs the passt in this directory with the loader and libraries that belong to it.
root=$(dirname "$(readlink -f "$0")")
exec "$root/usr/lib64/ld-linux-x86-64.so.2" --library-path "$root/usr/lib/x86_64-linux-gnu" "$root/usr/bin/passt" "$@"
EOS
    chmod 755 "$dir/passt"
    check_passt "$dir/passt" || die 'the passt just unpacked is unusable'
}
