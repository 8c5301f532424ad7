# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What the machine has to have, put into the environment. Needs ROOT, the project's folder.

# use_provided PIECE...: runs images/provide for each and exports what it prints.
use_provided() {
    local piece printed key value
    for piece in "$@"; do
        printed=$("$ROOT/images/provide" "$piece")
        while IFS='=' read -r key value; do
            export "$key=$value"
        done <<<"$printed"
    done
}

# use_java: exports JAVA_HOME and sets MVN.
use_java() {
    use_provided java
    export JAVA_HOME=$BACKPLANE_JAVA_HOME
    MVN=$BACKPLANE_MVN
}
