# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Builds the device server, unless what is there was built from these very sources. Needs ROOT, and use_java called.

readonly SERVER_JAR=$ROOT/device-server/server/target/backplane-server.jar
readonly SERVER_STAMP=$ROOT/device-server/server/target/built-from

# One line for the content of all that the server is built from.
server_sources() {
    (
        cd "$ROOT"
        find pom.xml .mvn device-server -type f -not -path '*/target/*' -not -path '*/src/test/*' -print0 |
            LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum
    )
}

build_server() {
    local sources log
    sources=$(server_sources)
    if [[ -f $SERVER_JAR && -f $SERVER_STAMP && $(<"$SERVER_STAMP") == "$sources" ]]; then
        return
    fi
    say 'building the device server'
    log=$(mktemp)
    if ! (cd "$ROOT" && timeout 900 "$MVN" -B -q -DskipTests -Dspotless.check.skip=true package \
        -pl device-server/server -am) >"$log" 2>&1; then
        tail -n 40 "$log" >&2
        rm -f "$log"
        fail 'the device server does not build (Maven has said why above)'
    fi
    rm -f "$log"
    printf '%s\n' "$sources" >"$SERVER_STAMP"
}
