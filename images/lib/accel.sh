# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Which accelerator. /dev/kvm can exist and open and still not run a stock kernel (nested hosts), so KVM is chosen only
# after a guest has booted under it; the answer is kept per machine. Else TCG.

readonly PROBE_LIMIT_S=10

# provide_accel: sets ACCEL and ACCEL_REASON. Needs QEMU, KERNEL and INITRD.
provide_accel() {
    if [[ -n ${BACKPLANE_ACCEL:-} ]]; then
        choose "$BACKPLANE_ACCEL" 'set by BACKPLANE_ACCEL'
    elif [[ ! -e /dev/kvm ]]; then
        choose tcg 'there is no /dev/kvm'
    elif [[ ! -r /dev/kvm || ! -w /dev/kvm ]]; then
        choose tcg "/dev/kvm is not open to $(id -un)"
    else
        cached accel "$(combined_key "$QEMU" "$KERNEL_RELEASE" "$(this_machine)" "$(content_key "$IMAGES/lib/accel.sh")")" \
            probe_kvm
        choose "$(<"$ENTRY/accel")" "$(<"$ENTRY/reason")"
    fi
}

choose() {
    ACCEL=$1
    ACCEL_REASON=$2
}

# What KVM's answer may depend on: the machine, its kernel, its processor.
this_machine() {
    cat /etc/machine-id 2>/dev/null || true
    uname -nrv
    grep -m 2 -E '^(model name|flags)' /proc/cpuinfo
}

probe_kvm() {
    local dir=$1 word=$$.$RANDOM line='' problem=''
    say "  booting a guest under KVM, $PROBE_LIMIT_S s at most"
    coproc PROBE {
        exec timeout --signal=KILL "$PROBE_LIMIT_S" "$QEMU" -accel kvm -cpu host -M q35 -m 256M -nodefaults -display none \
            -serial stdio -monitor none -no-reboot -kernel "$KERNEL" -initrd "$INITRD" \
            -append "$KERNEL_ARGS bp.probe=$word" 2>&1 </dev/null
    }
    local pid=$PROBE_PID
    while IFS= read -r line; do
        case $line in
            *"backplane: probe $word"*) problem=none ;;
            *'KVM internal error'* | *'emulation failure'* | *'Kernel panic'* | qemu*:*) problem=${line//$'\r'/} ;;
        esac
        [[ -z $problem ]] || break
    done <&"${PROBE[0]}"
    kill "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
    if [[ $problem == none ]]; then
        printf 'kvm\n' >"$dir/accel"
        printf 'a guest booted under KVM\n' >"$dir/reason"
    else
        printf 'tcg\n' >"$dir/accel"
        printf 'a guest does not boot under KVM here: %s\n' \
            "${problem:-it did not come up within $PROBE_LIMIT_S s}" >"$dir/reason"
    fi
}
