# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The base guest image: a cpio archive, not compressed (unpacking costs emulated time, reading does not), with busybox,
# some programs of Debian's, some kernel modules, the agent, and the files in guest/rootfs.

# provide_initrd RELEASE: sets INITRD and INITRD_MODULES, the module tree in it; and all that provide_kernel sets.
provide_initrd() {
    local programs
    provide_root "$DEFAULT_RELEASE"
    programs=$ROOT
    provide_kernel "$1"
    cached "initrd-$1" \
        "$(combined_key "$ROOT" "$programs" "$(content_key "$IMAGES/guest" "$IMAGES/lib/initrd.sh")")" \
        make_initrd "$programs" "$ROOT" "$KERNEL_RELEASE"
    INITRD=$ENTRY/base.cpio
    INITRD_MODULES=$ENTRY/modules
}

make_initrd() {
    local dir=$1 programs=$2 modules=$3 release=$4
    local tree=$dir/tree
    mkdir -p "$tree"/{dev,proc,sys,run,tmp,root,etc} "$tree"/usr/{bin,sbin,lib,lib64}
    ln -s usr/bin usr/sbin usr/lib usr/lib64 "$tree"
    tar -C "$IMAGES/guest/rootfs" -c . | tar -C "$tree" -x --keep-directory-symlink --no-same-owner
    copy_programs "$programs" "$tree"
    build_agent "$programs" "$tree"
    copy_modules "$modules" "$release" "$dir/modules/lib/modules/$release"
    mkdir -p "$tree/lib/modules"
    cp -r "$dir/modules/lib/modules/$release" "$tree/lib/modules/"
    pack_tree "$programs" "$tree" "$dir/base.cpio"
    remove_tree "$tree"
}

list_of() { sed 's/#.*//' "$1" | xargs -n 1; }

copy_programs() {
    local root=$1 tree=$2 program source applet
    while read -r program; do
        source=$(program_of "$root" "$program")
        cp "$source" "$tree${source#"$root"}"
        copy_libraries "$root" "$tree" "$source"
    done < <(list_of "$IMAGES/guest/programs.list")
    # The C library loads it when a thread is cancelled (iperf3 does that), so no program lists it.
    cp -L "$root/usr/lib/x86_64-linux-gnu/libgcc_s.so.1" "$tree/usr/lib/x86_64-linux-gnu/"
    mkdir -p "$tree/usr/share/misc"
    cp "$root/usr/share/misc/pci.ids" "$tree/usr/share/misc/"
    cp "$root/usr/bin/busybox" "$tree/usr/bin/"
    # Not busybox's shell: that one prefers its own applets to the programs above.
    ln -s dash "$tree/usr/bin/sh"
    for applet in $("$root/usr/bin/busybox" --list); do
        [[ -e $tree/usr/bin/$applet || -e $tree/usr/sbin/$applet ]] || ln -s busybox "$tree/usr/bin/$applet"
    done
    ln -s ../bin/busybox "$tree/usr/sbin/init"
}

copy_libraries() {
    local root=$1 tree=$2 program=$3 library
    while read -r library; do
        [[ -e $tree${library#"$root"} ]] && continue
        mkdir -p "$tree$(dirname "${library#"$root"}")"
        cp -L "$library" "$tree${library#"$root"}"
    done < <("$root/usr/lib64/ld-linux-x86-64.so.2" --library-path "$root/usr/lib/x86_64-linux-gnu" \
        --list "$program" | grep -o "$root/[^ ]*")
    cp -L "$root/usr/lib64/ld-linux-x86-64.so.2" "$tree/usr/lib64/"
}

build_agent() {
    local root=$1 tree=$2
    inside "$root" "$IMAGES/guest/agent" sh -c \
        'gcc -std=c11 -O2 -Wall -Wextra -static -s *.c -o /tmp/agent && cat /tmp/agent' >"$tree/usr/sbin/backplane-agent"
    chmod 755 "$tree/usr/sbin/backplane-agent"
}

copy_modules() {
    local root=$1 release=$2 target=$3 name file
    local source=$root/usr/lib/modules/$release
    mkdir -p "$target"
    cp "$source"/modules.{builtin,builtin.modinfo,order} "$target/"
    while read -r name; do
        # What one release has as a module may be part of another's kernel.
        ! grep -q "/$name\.ko$" "$source/modules.builtin" || continue
        for file in $(module_files "$source/modules.dep" "$name"); do
            copy_module "$root" "$source/$file" "$target/$file"
        done
    done < <(list_of "$IMAGES/guest/modules.list")
    index_modules "$root" "$target"
}

# module_files MODULES.DEP NAME: the module's file and those of the modules that it needs.
module_files() {
    awk -v name="$2" '
        { file = $1; sub(/:$/, "", file); base = file; sub(/.*\//, "", base); sub(/\.ko.*/, "", base)
          gsub(/-/, "_", base); if (base == name) { $1 = file; print; found = 1; exit } }
        END { exit !found }' "$1" || die "the kernel has no module $2 (guest/modules.list)"
}

# copy_module ROOT FILE TARGET: decompresses it: that is quicker here than in a guest.
copy_module() {
    local root=$1 file=$2 target=$3
    mkdir -p "${target%/*}"
    case $file in
        *.ko) cp "$file" "$target" ;;
        *.ko.xz) root_program "$root" xz -dc "$file" >"${target%.xz}" ;;
        *.ko.zst) root_program "$root" zstd -dcq "$file" >"${target%.zst}" ;;
        *) die "unknown compression of $file" ;;
    esac
}

# index_modules ROOT TREE: makes modules.dep and its kin for BASE/lib/modules/RELEASE.
index_modules() {
    local base=${2%/lib/modules/*}
    root_program "$1" depmod -b "$base" "${2##*/}"
}

# pack_tree ROOT TREE FILE: a newc cpio archive with everything owned by root.
pack_tree() {
    (cd "$2" && find . -print0 | LC_ALL=C sort -z |
        root_program "$1" cpio --null --create --quiet --format newc --owner 0:0 --reproducible) >"$3"
}
