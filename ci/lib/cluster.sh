# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A device server and its guests as children of this script. Needs ROOT and the environment of images/provide all.
# Ends only what it started, by process id.

readonly SERVER_START_LIMIT_S=30
readonly GUEST_START_LIMIT_S=90
readonly END_LIMIT_S=30

RUN_DIR=
SERVER_PID=
OUTSIDE_PIDS=()
declare -A GUEST_PIDS=()

# start_server ARGUMENT...: of "serve"; returns when it listens for all nodes.
start_server() {
    local line='' from_server
    RUN_DIR=$(mktemp -d "${TMPDIR:-/tmp}/backplane.XXXXXX")
    mkfifo "$RUN_DIR/server.out"
    "$ROOT/device-server/bin/backplane" serve "$@" --run-dir "$RUN_DIR" \
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

# start_outside FOLDER: a web server on the loopback interface that serves the folder, and the guests' way to it. Sets
# WEB_PORT. Fails where either cannot be had.
start_outside() {
    local line='' from_web
    mkfifo "$RUN_DIR/web.out"
    "$JAVA_HOME/bin/java" -m jdk.httpserver -b 127.0.0.1 -p 0 -d "$1" >"$RUN_DIR/web.out" 2>&1 &
    OUTSIDE_PIDS+=($!)
    exec {from_web}<"$RUN_DIR/web.out"
    WEB_PORT=
    while IFS= read -r -t "$SERVER_START_LIMIT_S" -u "$from_web" line; do
        # URL http://127.0.0.1:40111/
        [[ $line =~ http://127\.0\.0\.1:([0-9]+)/ ]] || continue
        WEB_PORT=${BASH_REMATCH[1]}
        break
    done
    [[ -n $WEB_PORT ]] || return 1
    "$ROOT/qemu-config/outside" "$RUN_DIR" >"$RUN_DIR/passt.log" 2>&1 &
    OUTSIDE_PIDS+=($!)
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
    for name in "${OUTSIDE_PIDS[@]}"; do
        end_process "$name"
    done
    [[ -z $SERVER_PID ]] || end_process "$SERVER_PID"
    [[ -z $RUN_DIR ]] || rm -rf "$RUN_DIR"
    GUEST_PIDS=() OUTSIDE_PIDS=() SERVER_PID='' RUN_DIR=''
}
