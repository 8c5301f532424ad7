# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Progress and failures, on standard error.

# say TEXT...: a progress line with the seconds since the script began.
say() { printf '[%3d s] %s\n' "$SECONDS" "$*" >&2; }

fail() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

# indent: what a tool printed, set off from our own lines.
indent() { sed 's/^/        /'; }
