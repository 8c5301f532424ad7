# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A container image with QEMU in it, for guests that run in containers, and an engine to run it where none is running.

readonly RUNNER_NAME=backplane-guest-runner
readonly ENGINE_START_LIMIT_S=30
readonly ENGINE_END_LIMIT_S=20
ENGINE_PID=
ENGINE_DIR=

engine_answers() { docker version --format '{{.Server.Version}}' >/dev/null 2>&1; }

# use_engine INSTALL: returns when an engine answers. One that has to be started is started for us alone: its socket and
# data are in a folder of its own, and it has neither bridge nor packet filter nor forwarding, so that the host's network
# stays as it was. Containers then have the network "none" or the host's.
use_engine() {
    if command -v docker >/dev/null && engine_answers; then
        return
    fi
    [[ $EUID -eq 0 ]] || die 'no container engine answers, and only root can start one'
    if ! command -v dockerd >/dev/null || ! command -v docker >/dev/null; then
        [[ $1 == true ]] || die 'there is no container engine: apt-get install docker.io, or give --install'
        say 'installing docker.io'
        apt-get -q update >/dev/null 2>&1 || true
        apt-get -q -y --no-install-recommends install docker.io >/dev/null 2>&1 || die 'docker.io cannot be installed'
    fi
    start_engine
}

start_engine() {
    ENGINE_DIR=$(mktemp -d "${TMPDIR:-/tmp}/backplane-engine.XXXXXX")
    mkdir -p "$CACHE/engine"
    say 'starting a container engine'
    dockerd --host "unix://$ENGINE_DIR/docker.sock" --data-root "$CACHE/engine" --exec-root "$ENGINE_DIR/run" \
        --pidfile "$ENGINE_DIR/pid" --bridge none --iptables=false --ip6tables=false --ip-forward=false --ip-masq=false \
        >"$ENGINE_DIR/log" 2>&1 &
    ENGINE_PID=$!
    export DOCKER_HOST=unix://$ENGINE_DIR/docker.sock
    local until=$((SECONDS + ENGINE_START_LIMIT_S))
    while ! engine_answers; do
        if ! kill -0 "$ENGINE_PID" 2>/dev/null || ((SECONDS >= until)); then
            tail -n 10 "$ENGINE_DIR/log" >&2
            die 'the container engine did not start (its last words are above)'
        fi
        sleep 0.1
    done
}

# Ends the engine that start_engine started, and containers that were left in it.
stop_engine() {
    [[ -n $ENGINE_PID ]] || return 0
    local -a left
    mapfile -t left < <(docker ps -aq 2>/dev/null || true)
    [[ ${#left[@]} -eq 0 ]] || docker rm -f "${left[@]}" >/dev/null 2>&1 || true
    kill "$ENGINE_PID" 2>/dev/null || true
    timeout "$ENGINE_END_LIMIT_S" tail --pid="$ENGINE_PID" -s 0.05 -f /dev/null || kill -KILL "$ENGINE_PID" || true
    wait "$ENGINE_PID" 2>/dev/null || true
    ENGINE_PID=
    unmount_below "$ENGINE_DIR" "$CACHE/engine"
    rm -rf "$ENGINE_DIR"
}

# What an engine that had to be killed may leave mounted, innermost first.
unmount_below() {
    local dir point
    for dir in "$@"; do
        while read -r point; do
            umount -l "$point" 2>/dev/null || true
        done < <(awk -v dir="$dir/" 'index($5, dir) == 1 { print $5 }' /proc/self/mountinfo | sort -r)
    done
}

# provide_runner: sets RUNNER to the image's name, and makes it if the engine has not got it. It gets the name last, after
# QEMU has run in it.
provide_runner() {
    local key tar candidate
    provide_qemu_root
    key=${QEMU_ROOT##*/}
    RUNNER=$RUNNER_NAME:$key
    if docker image inspect "$RUNNER" >/dev/null 2>&1; then
        return
    fi
    say "image $RUNNER: making it"
    tar=$(mktemp "${TMPDIR:-/tmp}/backplane-runner.XXXXXX")
    tar -C "$QEMU_ROOT" --owner=0 --group=0 -cf "$tar" .
    candidate=$(docker import --change 'ENV PATH=/usr/sbin:/usr/bin' --change 'CMD ["qemu-system-x86_64", "--version"]' "$tar")
    rm -f "$tar"
    docker run --rm --network none "$candidate" >&2 || die 'QEMU does not run in the image'
    docker tag "$candidate" "$RUNNER"
}
