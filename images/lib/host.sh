# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Small programs that reach a guest from the host: static, so that they run on any.

# provide_host: sets GUEST_EXEC and GUEST_CONSOLE.
provide_host() {
    provide_root "$DEFAULT_RELEASE"
    cached host "$(combined_key "$ROOT" "$(content_key "$IMAGES/host" "$IMAGES/lib/host.sh")")" make_host "$ROOT"
    GUEST_EXEC=$ENTRY/guest-exec
    GUEST_CONSOLE=$ENTRY/guest-console
}

make_host() {
    local dir=$1 root=$2 program
    for program in guest-exec guest-console; do
        inside "$root" "$IMAGES/host" sh -euc \
            'gcc -std=c11 -O2 -Wall -Wextra -static -s "$0.c" socket.c -o /tmp/program && cat /tmp/program' "$program" \
            >"$dir/$program"
        chmod 755 "$dir/$program"
    done
}
