# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The cache: KIND/KEY directories under one folder. A key is a hash of all that decides the content, an entry is
# written in a temporary directory and renamed when complete, so whatever has its final name is whole.

CACHE=$(readlink -m "${BACKPLANE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/backplane}")
readonly CACHE

# Entries that nobody used for so many days are removed when a new one of their kind is made.
readonly CACHE_DAYS=${BACKPLANE_CACHE_DAYS:-30}
readonly CACHE_LOCK_S=1800

# content_key FILE... : one key for the content of files and directories (names relative to each argument).
content_key() {
    local path
    for path in "$@"; do
        if [[ -d $path ]]; then
            (cd "$path" && find . -type f -print0 | LC_ALL=C sort -z | xargs -0r sha256sum)
        else
            sha256sum <"$path"
        fi
    done | sha256sum | cut -c 1-16
}

# combined_key STRING... : one key for several keys.
combined_key() { printf '%s\n' "$@" | sha256sum | cut -c 1-16; }

# cached KIND KEY BUILDER [ARG...]: sets ENTRY to the entry's path. If it is not there, runs BUILDER DIR ARG..., which
# fills the empty directory DIR; a second run that wants the same kind waits for the first one.
cached() {
    local kind=$1 key=$2 lock
    shift 2
    ENTRY=$CACHE/$kind/$key
    if [[ ! -d $ENTRY ]]; then
        mkdir -p "$CACHE/$kind"
        exec {lock}>"$CACHE/$kind/.lock"
        if ! flock -n "$lock"; then
            say "$kind: another run is making it, waiting"
            flock -w "$CACHE_LOCK_S" "$lock" || die "$kind: still locked after $CACHE_LOCK_S s ($CACHE/$kind/.lock)"
        fi
        [[ -d $ENTRY ]] || build_entry "$kind" "$@"
        exec {lock}>&-
    fi
    # The time of last use, for clean_kind; not fatal in a cache that is read-only.
    touch -c "$ENTRY" 2>/dev/null || true
}

# Holds the lock of the kind, so a temporary directory that is already there was left by a run that was killed.
build_entry() {
    local kind=$1 builder=$2 fresh began=$SECONDS
    shift 2
    say "$kind: making it"
    remove_tree "$CACHE/$kind"/.new.*
    clean_kind "$kind"
    fresh=$(mktemp -d "$CACHE/$kind/.new.XXXXXX")
    chmod 755 "$fresh"
    "$builder" "$fresh" "$@"
    mv -T "$fresh" "$ENTRY"
    say "$kind: ready in $((SECONDS - began)) s"
}

remove_tree() {
    local tree
    for tree in "$@"; do
        [[ -d $tree ]] || continue
        # Packages ship directories without write permission; an ordinary user has to open them first.
        chmod -R u+w "$tree" 2>/dev/null || true
        rm -rf "$tree"
    done
}

clean_kind() {
    local old
    while IFS= read -r -d '' old; do
        remove_tree "$old"
    done < <(find "$CACHE/$1" -mindepth 1 -maxdepth 1 -type d -mtime "+$CACHE_DAYS" -print0)
}
