# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The demo's steps in the guests node1 and node2. Each puts its results into RESULT.

declare -A RESULT=([ping_ok]=false [put_ok]=false [get_ok]=false)

readonly PEER=10.77.0.2
readonly GATEWAY=10.77.0.254
readonly PAGE_BYTES=2000000
readonly PINGS=20
readonly TCP_S=4
readonly KEY=4711
readonly ELEMENT_BYTES=100000
readonly ROUND_TRIPS=2000

now() { date +%s.%N; }

since() { awk -v from="$1" -v to="$(now)" 'BEGIN { printf "%.1f", to - from }'; }

show_devices() {
    say 'lspci -vv of both devices, in node1:'
    guest node1 20 'lspci -vv -d ba5c:' | indent
    # shellcheck disable=SC2016 # for the guest's shell
    guest node1 20 'ip -brief address show "$(bp-net)"' | indent || fail 'node1 has no interface of the aggregation device'
}

measure_ping() {
    local shown
    say "ping from node1 to node2"
    # The first one waits for the address to be resolved.
    shown=$(guest node1 30 "ping -q -c 1 -W 10 $PEER >/dev/null; ping -q -i 0.1 -c $PINGS -W 2 $PEER") || true
    indent <<<"$shown"
    # rtt min/avg/max/mdev = 0.1/0.2/0.3/0.1 ms
    read -r RESULT[ping_min_ms] RESULT[ping_avg_ms] < <(awk -F'[=/ ]+' '/^rtt/ { print $6, $7 }' <<<"$shown") || true
    RESULT[ping_lost]=$(sed -n 's/.* \([0-9]*\)% packet loss.*/\1/p' <<<"$shown")
    [[ ${RESULT[ping_lost]} != 0 ]] || RESULT[ping_ok]=true
}

measure_tcp() {
    local shown
    say "iperf3 TCP from node1 to node2, $TCP_S s"
    guest node2 10 'iperf3 -s -D -I /tmp/iperf3.pid && until ss -Hltn sport = :5201 | grep -q .; do sleep 0.1; done'
    shown=$(guest node1 $((TCP_S + 30)) "iperf3 -f m -t $TCP_S -c $PEER 2>&1") || true
    indent <<<"$shown"
    # shellcheck disable=SC2016 # for the guest's shell
    guest node2 10 'kill $(cat /tmp/iperf3.pid | tr -d "\0")' || true
    # [  5]   0.00-4.00   sec   446 MBytes   935 Mbits/sec                  receiver
    RESULT[tcp_mbit_s]=$(awk '/receiver/ { for (i = 2; i <= NF; i++) if ($i == "Mbits/sec") print $(i - 1) }' <<<"$shown")
}

# await_ring RING: until node2 has the ring that a process of its is about to make.
await_ring() { guest node2 20 "until grep -q 'ring $1' /tmp/ring$1.log; do sleep 0.05; done"; }

# same_contents FILE-IN-NODE1 FILE NODE: the same bytes?
same_contents() {
    local sent arrived
    sent=$(guest node1 10 "sha256sum <$1")
    arrived=$(guest "$3" 10 "sha256sum <$2")
    say "sent    $sent"
    say "arrived $arrived"
    [[ -n $sent && $sent == "$arrived" ]]
}

check_put() {
    say "PUT: $ELEMENT_BYTES random bytes from a process in node1 to one in node2"
    guest node1 20 "head -c $ELEMENT_BYTES /dev/urandom >/tmp/sent"
    guest node2 20 "bp-get --listen --ring 7 --key $KEY --count 1 --timeout 30 --out /tmp/arrived >/tmp/ring7.log 2>&1 &"
    if await_ring 7 && guest node1 40 "bp-put --node 2 --ring 7 --key $KEY --file /tmp/sent" | indent &&
        guest node2 20 "until [ \$(stat -c %s /tmp/arrived) = $ELEMENT_BYTES ]; do sleep 0.05; done" &&
        same_contents /tmp/sent /tmp/arrived node2; then
        RESULT[put_ok]=true
    else
        guest node2 10 'cat /tmp/ring7.log' | indent || true
    fi
}

check_get() {
    say 'GET: node1 removes an element from a ring in node2'
    guest node2 20 "bp-get --listen --shared --ring 8 --key $KEY --timeout 60 >/tmp/ring8.log 2>&1 &"
    if await_ring 8 && guest node1 40 "bp-put --node 2 --ring 8 --key $KEY --file /tmp/sent &&
            bp-get --remote --node 2 --ring 8 --key $KEY --timeout 20 --out /tmp/got" | indent &&
        same_contents /tmp/sent /tmp/got node1; then
        RESULT[get_ok]=true
    else
        guest node2 10 'cat /tmp/ring8.log' | indent || true
    fi
}

measure_messages() {
    local shown
    say "$ROUND_TRIPS messages of 64 bytes there and back, both processes polling"
    guest node2 20 'bp-pingpong --server >/tmp/ring40.log 2>&1 &'
    await_ring 40 || return 0
    shown=$(guest node1 60 "bp-pingpong --client --node 2 --count $ROUND_TRIPS --json 2>&1") || true
    indent <<<"$shown"
    RESULT[message_us]=$(sed -n 's/.*"p50":\([0-9.]*\).*/\1/p' <<<"$shown")
}

# Both guests fetch a file at the same time from a web server on the host's loopback interface.
check_outside() {
    local page name fetching=() sums
    if [[ -z ${BACKPLANE_PASST:-} ]]; then
        say 'the way to the outside is left out: passt cannot be had here'
        return
    fi
    say "HTTP: both nodes fetch $PAGE_BYTES random bytes from the host's loopback interface, through passt"
    RESULT[outside_ok]=false
    page=$RUN_DIR/www
    mkdir "$page"
    head -c "$PAGE_BYTES" /dev/urandom >"$page/page"
    if ! start_outside "$page"; then
        say 'the web server did not start'
        return
    fi
    for name in node1 node2; do
        # Until passt is there and the link is up. Whatever stands in the way ends with the limit.
        guest "$name" 40 "until wget -q -T 10 -O /tmp/page http://$GATEWAY:$WEB_PORT/page 2>/tmp/wget; do sleep 0.2; done" &
        fetching+=($!)
    done
    wait "${fetching[@]}" || { guest node1 10 'cat /tmp/wget' | indent && show_log passt.log; } || true
    sums=$(sha256sum <"$page/page")
    say "served  $sums"
    for name in node1 node2; do
        say "fetched $(guest "$name" 10 'sha256sum </tmp/page')"
    done
    if [[ $(guest node1 10 'sha256sum </tmp/page') == "$sums" && $(guest node2 10 'sha256sum </tmp/page') == "$sums" ]]; then
        RESULT[outside_ok]=true
    fi
}
