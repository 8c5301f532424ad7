# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# checkpatch.pl, the kernel's checker of style. Debian's packages of headers leave it out, so it is taken from the sources,
# a large package for three small files. Nothing but a check of the driver needs it.

# provide_checkpatch: sets CHECKPATCH_DIR, a folder with checkpatch.pl; ends with an error where it cannot be had.
provide_checkpatch() {
    local list=$IMAGES/packages/checkpatch.list
    cached checkpatch "$(content_key "$list" "$IMAGES/lib/checkpatch.sh" "$IMAGES/lib/debs.sh")" make_checkpatch "$list"
    CHECKPATCH_DIR=$ENTRY
}

make_checkpatch() {
    local dir=$1 list=$2
    unpack_debs "$dir/packages" "$(suites_of "$DEFAULT_RELEASE")" "$list"
    say '  looking for checkpatch.pl in the sources'
    root_program "$dir/packages" xz -dc "$dir"/packages/usr/src/linux-source-*.tar.xz |
        tar -x -C "$dir" --strip-components=2 --no-same-owner --wildcards \
            '*/scripts/checkpatch.pl' '*/scripts/const_structs.checkpatch' '*/scripts/spelling.txt'
    remove_tree "$dir/packages"
    [[ -f $dir/checkpatch.pl ]] || die 'the sources just unpacked have no checkpatch.pl'
}
