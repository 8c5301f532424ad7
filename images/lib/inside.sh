# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Runs a command with a root as its file system, in a mount namespace of its own: nothing stays mounted afterwards.
# An ordinary user needs user namespaces for that.

# inside ROOT WORK COMMAND...: runs COMMAND in ROOT with the directory WORK at /home, which is also where it starts.
inside() {
    local root=$1 work=$2
    shift 2
    local -a unshare=(unshare --mount)
    [[ $EUID -eq 0 ]] || unshare+=(--user --map-root-user)
    "${unshare[@]}" true 2>/dev/null || die "this user may not make namespaces, which the compiler's root needs:" \
        "run as root, or allow it (sysctl kernel.unprivileged_userns_clone=1)"
    # shellcheck disable=SC2016 # expanded by the inner shell
    "${unshare[@]}" sh -euc '
        root=$1 work=$2
        shift 2
        mount --rbind /dev "$root/dev"
        mount --rbind /proc "$root/proc"
        mount -t tmpfs none "$root/tmp"
        mount --bind "$work" "$root/home"
        PATH=$PATH:/usr/sbin # chroot is not on the path of an ordinary user
        exec chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin HOME=/tmp LC_ALL=C.UTF-8 \
            sh -c "cd /home && exec \"\$@\"" sh "$@"
    ' sh "$root" "$work" "$@"
}
