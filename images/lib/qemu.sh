# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Which QEMU: the one named by BACKPLANE_QEMU, else the machine's own if it is new enough, else the cached one.

# vfio-user-pci came with this release.
readonly QEMU_MINIMUM=10.1

provide_qemu() {
    local own version
    if [[ -n ${BACKPLANE_QEMU:-} ]]; then
        version=$(check_qemu "$BACKPLANE_QEMU") ||
            die "BACKPLANE_QEMU=$BACKPLANE_QEMU is not a QEMU $QEMU_MINIMUM or newer with vfio-user-pci"
        QEMU=$BACKPLANE_QEMU
    elif own=$(command -v qemu-system-x86_64) && version=$(check_qemu "$own"); then
        QEMU=$own
    else
        provide_qemu_root
        QEMU=$QEMU_ROOT/qemu-system-x86_64
        version=$(<"$QEMU_ROOT/.version")
    fi
    QEMU_VERSION=$version
}

# check_qemu PROGRAM: prints its version if it is new enough and has vfio-user-pci, else fails.
check_qemu() {
    local version
    version=$("$1" --version 2>/dev/null | sed -n 's/^QEMU emulator version \([0-9.]*\).*/\1/p')
    [[ -n $version ]] && version_at_least "$version" "$QEMU_MINIMUM" || return 1
    "$1" -M none -device help 2>/dev/null | grep -q '"vfio-user-pci"' || return 1
    printf '%s\n' "$version"
}

# write_qemu_wrapper DIR: a program that runs DIR's QEMU with DIR's own loader and libraries, on any host, without chroot.
write_qemu_wrapper() {
    cat >"$1/qemu-system-x86_64" <<'EOF'
#!/bin/sh
# Runs the QEMU in this directory with the loader and libraries that belong to it.
root=$(dirname "$(readlink -f "$0")")
export QEMU_MODULE_DIR="$root/usr/lib/x86_64-linux-gnu/qemu"
exec "$root/usr/lib64/ld-linux-x86-64.so.2" --library-path "$root/usr/lib/x86_64-linux-gnu" \
    "$root/usr/bin/qemu-system-x86_64" -L "$root/usr/share/qemu" -L "$root/usr/share/seabios" \
    -L "$root/usr/lib/ipxe/qemu" "$@"
EOF
    chmod 755 "$1/qemu-system-x86_64"
}
