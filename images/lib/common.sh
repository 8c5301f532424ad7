# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Messages and failures. Standard output belongs to the KEY=VALUE lines; all else goes to standard error.

say() { printf 'images: %s\n' "$*" >&2; }

die() {
    printf 'images: error: %s\n' "$*" >&2
    exit 1
}

# Prints one result line.
result() { printf '%s=%s\n' "$1" "$2"; }

# need PROGRAM HINT: fails with one line when the program is missing.
need() { command -v "$1" >/dev/null || die "$1 is missing: $2"; }

# version_at_least HAVE WANT: compares dotted version numbers.
version_at_least() { [[ $(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1) == "$2" ]]; }
