# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The guest kernel: Debian's cloud kernel out of a release's root. Besides the image as packaged, the kernel inside it is
# unpacked once here: QEMU starts that by its PVH entry, and no guest spends emulated time on decompressing it.

# What every guest's command line starts with. panic=-1: a panic ends the guest at once instead of hanging it.
# loglevel=5: warnings and worse. no_timer_check: the check fails, and boot with it, when a busy host holds QEMU up for a
# moment. cryptomgr.notests: the cipher self-tests cost a second of emulated boot time.
readonly KERNEL_ARGS='console=ttyS0 loglevel=5 panic=-1 no_timer_check cryptomgr.notests'

# provide_kernel RELEASE: sets ROOT, KERNEL, KERNEL_IMAGE and KERNEL_RELEASE.
provide_kernel() {
    provide_root "$1"
    cached "kernel-$1" "$(combined_key "$ROOT" "$(content_key "$IMAGES/lib/kernel.sh")")" make_kernel "$ROOT"
    KERNEL=$ENTRY/vmlinux
    KERNEL_IMAGE=$ENTRY/vmlinuz
    KERNEL_RELEASE=$(<"$ENTRY/release")
}

make_kernel() {
    local dir=$1 root=$2 image release
    # One root holds one kernel, in /boot or, in newer packages, with its modules.
    release=$(ls "$root/usr/lib/modules")
    for image in "$root/boot/vmlinuz-$release" "$root/usr/lib/modules/$release/vmlinuz"; do
        [[ ! -f $image ]] || break
    done
    [[ -f $image ]] || die "no kernel $release in $root"
    printf '%s\n' "$release" >"$dir/release"
    cp "$image" "$dir/vmlinuz"
    unpack_kernel "$dir/vmlinuz" "$dir/vmlinux" "$root" || {
        say "  $release cannot be unpacked, guests will boot the packaged image"
        ln -sf vmlinuz "$dir/vmlinux"
    }
}

# unpack_kernel IMAGE OUTPUT ROOT: see the Linux/x86 boot protocol. Offsets: 0x1f1 setup_sects (512-byte sectors of
# real-mode code, less one), 0x248 payload_offset (from the protected-mode code on), 0x24c payload_length (except for
# gzip, the payload's last four bytes are a size and not part of the compressed stream).
unpack_kernel() {
    local image=$1 output=$2 root=$3 sectors offset length magic
    sectors=$(field "$image" $((0x1f1)) 1)
    offset=$(((sectors + 1) * 512 + $(field "$image" $((0x248)) 4)))
    length=$(field "$image" $((0x24c)) 4)
    magic=$(od -A n -t x1 -j "$offset" -N 4 "$image" | tr -d ' ')
    local -a unpack
    [[ $magic == 1f8b* ]] || length=$((length - 4))
    case $magic in
        28b52ffd) unpack=(root_program "$root" zstd -dcq) ;;
        02214c18) unpack=(root_program "$root" lz4 -dcq) ;;
        fd377a58) unpack=(root_program "$root" xz -dc --single-stream) ;;
        1f8b*) unpack=(gzip -dcq) ;;
        *) return 1 ;;
    esac
    # dd ends by itself after the payload, so that no writer in the pipe dies of a closed one.
    dd if="$image" iflag=skip_bytes,count_bytes skip="$offset" count="$length" bs=64K status=none |
        "${unpack[@]}" >"$output" || return 1
    [[ $(head -c 4 "$output") == $'\177ELF' ]]
}

# field FILE OFFSET BYTES: a little-endian number.
field() { od -A n -t "u$3" -j "$2" -N "$3" "$1" | tr -d ' '; }
