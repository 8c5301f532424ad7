# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A device server and its guests as children of this script. Needs ROOT and the environment of images/provide all.
# Ends only what it started, by process id.

readonly SERVER_START_LIMIT_S=30
readonly GUEST_START_LIMIT_S=90
readonly END_LIMIT_S=30

RUN_DIR=
SERVER_PID=
declare -A GUEST_PIDS=()

# start_server NODES: returns when it listens for all of them.
start_server() {
    local line='' from_server
    RUN_DIR=$(mktemp -d "${TMPDIR:-/tmp}/backplane.XXXXXX")
    mkfifo "$RUN_DIR/server.out"
    "$ROOT/device-server/bin/backplane" serve --nodes "$1" --run-dir "$RUN_DIR" \
        >"$RUN_DIR/server.out" 2>"$RUN_DIR/server.log" &
    SERVER_PID=$!
    # Kept open: the server would die of writing to a pipe that nobody holds.
    exec {from_server}<"$RUN_DIR/server.out"
    while IFS= read -r -t "$SERVER_START_LIMIT_S" -u "$from_server" line; do
        [[ $line != *'"event":"ready"'* ]] || return 0
    done
    show_log server.log
    fail "the device server did not get ready within $SERVER_START_LIMIT_S s (its log is above)"
}

# start_guest NAME: returns at once.
start_guest() {
    mkdir -p "$RUN_DIR/$1"
    "$ROOT/qemu-config/node" "$RUN_DIR" "$1" >"$RUN_DIR/$1/qemu.log" 2>&1 </dev/null &
    GUEST_PIDS[$1]=$!
}

# await_guest NAME: returns when its agent answers; fails at once when QEMU ends instead.
await_guest() {
    local name=$1 agent ended
    "$BACKPLANE_GUEST_EXEC" -t "$GUEST_START_LIMIT_S" "$RUN_DIR/$name/agent.sock" : 2>>"$RUN_DIR/$name/qemu.log" &
    agent=$!
    wait -n -p ended "$agent" "${GUEST_PIDS[$name]}" || ended=failed
    [[ $ended != "$agent" ]] || return 0
    kill "$agent" 2>/dev/null || true
    show_log "$name/qemu.log"
    show_log "$name/console.log"
    fail "guest $name did not come up (its console is above)"
}

# guest NAME LIMIT SCRIPT: runs a script in a guest, LIMIT seconds at most.
guest() { "$BACKPLANE_GUEST_EXEC" -t "$2" "$RUN_DIR/$1/agent.sock" "$3"; }

show_log() {
    [[ ! -s $RUN_DIR/$1 ]] || { printf -- '--- %s\n' "$1" && tail -n 25 "$RUN_DIR/$1"; } >&2
}

# end_process PID: asks, then insists.
end_process() {
    kill "$1" 2>/dev/null || return 0
    timeout "$END_LIMIT_S" tail --pid="$1" -s 0.05 -f /dev/null || kill -KILL "$1" 2>/dev/null || true
    wait "$1" 2>/dev/null || true
}

stop_cluster() {
    local name
    for name in "${!GUEST_PIDS[@]}"; do
        end_process "${GUEST_PIDS[$name]}"
    done
    [[ -z $SERVER_PID ]] || end_process "$SERVER_PID"
    [[ -z $RUN_DIR ]] || rm -rf "$RUN_DIR"
    GUEST_PIDS=() SERVER_PID='' RUN_DIR=''
}
