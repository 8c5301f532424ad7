# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The demo's results, for people and for programs.

print_summary() {
    cat <<EOF

Backplane: two guests, one device server
  QEMU             $BACKPLANE_QEMU_VERSION, $BACKPLANE_ACCEL ($BACKPLANE_ACCEL_REASON)
  guest kernel     $BACKPLANE_KERNEL_RELEASE
  boot             ${RESULT[boot_s]} s, both
  ping             $(figure ping_avg_ms 'ms on average'), ${RESULT[ping_lost]:-100} % lost
  TCP              $(figure tcp_mbit_s Mbit/s)
  PUT              $(verdict put_ok)
  GET              $(verdict get_ok)
  outside          $(outside_verdict)
  message          $(figure message_us 'us there and back (median)')
  all of it        ${RESULT[total_s]} s

Interactively, each node in a terminal of its own:
  device-server/bin/backplane serve --nodes 2 --run-dir /tmp/backplane
  qemu-config/node --console /tmp/backplane node1
  qemu-config/node --console /tmp/backplane node2
EOF
}

# figure NAME UNIT
figure() { [[ -n ${RESULT[$1]:-} ]] && printf '%s %s' "${RESULT[$1]}" "$2" || printf 'failed'; }

verdict() { [[ ${RESULT[$1]} == true ]] && printf 'contents are equal' || printf 'failed'; }

outside_verdict() {
    case ${RESULT[outside_ok]:-} in
        true) printf 'contents are equal, by HTTP through passt' ;;
        false) printf 'failed' ;;
        *) printf 'left out: passt cannot be had here' ;;
    esac
}

# write_json FILE: figures that could not be had are null.
write_json() {
    local name separator=''
    {
        printf '{'
        for name in qemu accelerator accelerator_reason kernel; do
            printf '%s"%s":"%s"' "$separator" "$name" "$(json_text "$(fact "$name")")"
            separator=,
        done
        for name in boot_s ping_min_ms ping_avg_ms ping_lost tcp_mbit_s message_us ping_ok put_ok get_ok outside_ok total_s; do
            printf ',"%s":%s' "$name" "$(json_number "${RESULT[$name]:-}")"
        done
        printf '}\n'
    } >"$1"
}

fact() {
    case $1 in
        qemu) printf '%s' "$BACKPLANE_QEMU_VERSION" ;;
        accelerator) printf '%s' "$BACKPLANE_ACCEL" ;;
        accelerator_reason) printf '%s' "$BACKPLANE_ACCEL_REASON" ;;
        kernel) printf '%s' "$BACKPLANE_KERNEL_RELEASE" ;;
    esac
}

json_text() { sed 's/\\/\\\\/g; s/"/\\"/g; s/[[:cntrl:]]/ /g' <<<"$1"; }

json_number() { [[ $1 =~ ^(true|false|-?[0-9]+(\.[0-9]+)?)$ ]] && printf '%s' "$1" || printf 'null'; }
