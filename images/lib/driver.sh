# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The guest driver, its library and tools, built in the root of the kernel they are for, as a second cpio archive.

readonly DRIVER=$IMAGES/../guest-driver

# provide_driver RELEASE: sets DRIVER_INITRD, and GUEST_INITRD, which is the base image and the driver in one file. Where
# there is no driver to build, DRIVER_INITRD is empty. Sets what provide_initrd sets, too.
provide_driver() {
    provide_initrd "$1"
    DRIVER_INITRD=
    GUEST_INITRD=$INITRD
    if [[ -z $(find "$DRIVER/kernel" -name '*.c' -print -quit 2>/dev/null) ]]; then
        say 'no modules in guest-driver/kernel: the guest image is without the driver'
        return
    fi
    local build
    cached "driver-build-$1" "$(combined_key "$ROOT" "$(driver_key)" "$(content_key "$IMAGES/lib/driver.sh")")" \
        build_driver "$ROOT" "$KERNEL_RELEASE"
    build=$ENTRY
    cached "driver-$1" "$(combined_key "$build" "$INITRD")" \
        pack_driver "$build/tree" "$ROOT" "$KERNEL_RELEASE" "$INITRD" "$INITRD_MODULES"
    DRIVER_INITRD=$ENTRY/driver.cpio
    GUEST_INITRD=$ENTRY/guest.cpio
}

# driver_files: the driver's sources, without what a build in the tree may have left there, each ended by a NUL.
driver_files() {
    (
        cd "$DRIVER"
        git ls-files -z --cached --others --exclude-standard 2>/dev/null || find . -type f -print0
    ) | LC_ALL=C sort -zu | while IFS= read -r -d '' file; do
        # What was removed and not yet committed is still in the index.
        [[ ! -f $DRIVER/$file ]] || printf '%s\0' "$file"
    done
}

driver_key() { (cd "$DRIVER" && driver_files | xargs -0 sha256sum | sha256sum); }

copy_driver() { driver_files | tar -C "$DRIVER" --null --files-from=- -c | tar -C "$1" -x --no-same-owner; }

build_driver() {
    local dir=$1 root=$2 release=$3
    local work=$dir/work
    mkdir -p "$work/tree" "$work/guest-driver"
    copy_driver "$work/guest-driver"
    inside "$root" "$work" make --no-print-directory -j "$(nproc)" -C guest-driver \
        KDIR="/usr/lib/modules/$release/build" KVER="$release" DESTDIR=/home/tree install >"$work/log" 2>&1 || {
        tail -n 40 "$work/log" >&2
        die 'the guest driver does not build (the compiler has said why above)'
    }
    # Warnings are worth seeing in a build that succeeds, too.
    grep -E 'warning:' "$work/log" >&2 || true
    merged_tree "$work/tree"
    mv "$work/tree" "$dir/tree"
    remove_tree "$work"
}

pack_driver() {
    local dir=$1 tree=$2 root=$3 release=$4 base=$5 base_modules=$6
    cp -r "$tree" "$dir/tree"
    index_with_base "$root" "$dir" "$release" "$base_modules"
    pack_tree "$root" "$dir/tree" "$dir/driver.cpio"
    # The kernel unpacks one archive after the other.
    cat "$base" "$dir/driver.cpio" >"$dir/guest.cpio"
    remove_tree "$dir/tree" "$dir/both"
}

# merged_tree TREE: /lib in the guest is a link to usr/lib; a directory of that name in the archive would replace it.
merged_tree() {
    local name
    for name in lib bin sbin; do
        [[ -d $1/$name ]] || continue
        mkdir -p "$1/usr/$name"
        cp -r "$1/$name/." "$1/usr/$name/"
        remove_tree "${1:?}/$name"
    done
}

# index_with_base ROOT DIR RELEASE BASE-MODULES: puts a module index into DIR/tree that covers the base image's modules and
# the driver's.
index_with_base() {
    local root=$1 tree=$2/tree release=$3 base_modules=$4 both=$2/both/lib/modules
    mkdir -p "$both" "$tree/usr/lib/modules/$release"
    cp -r "$base_modules/lib/modules/$release" "$both/"
    cp -r "$tree/usr/lib/modules/$release/." "$both/$release/"
    index_modules "$root" "$both/$release"
    cp "$both/$release"/modules.* "$tree/usr/lib/modules/$release/"
}
