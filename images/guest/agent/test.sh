#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the agent with sanitizers and talks to it over pipes. Runs in the compiler root (images/test starts it there).
# Prints one line per case and "N passed, N failed".
set -uo pipefail
cd "$(dirname "$0")" || exit 1

readonly LIMIT_S=30
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
gcc -std=c11 -O1 -g -Wall -Wextra -Werror -fsanitize=address,undefined -fno-sanitize-recover=all \
    -DSCRIPT_DIR="\"$scratch\"" ./*.c -o "$scratch/agent" || exit 1

passed=0
failed=0
problem=
declare -A texts codes

# One case: a function that talks to a fresh agent and calls wrong TEXT where the answer is not what it should be.
check() {
    problem=
    coproc AGENT { exec timeout "$LIMIT_S" "$scratch/agent" 2>"$scratch/stderr"; }
    local pid=$AGENT_PID in=${AGENT[1]} out=${AGENT[0]} status
    exec {to}>&"$in" {from}<&"$out"
    expect "ready 1 $(uname -r)"
    "$1"
    exec {to}>&- {from}<&-
    eval "exec $in>&- $out<&-"
    wait "$pid"
    status=$?
    [[ $status -eq 0 ]] || wrong "the agent ended with status $status: $(head -c 2000 "$scratch/stderr")"
    if [[ -z $problem ]]; then
        passed=$((passed + 1))
        printf 'ok    %s\n' "$1"
    else
        failed=$((failed + 1))
        printf 'WRONG %s: %s\n' "$1" "$problem"
    fi
}

wrong() { problem=${problem:-$1}; }

# The rest of a case after the first wrong answer would only wait.
# shellcheck disable=SC2059 # the format is the caller's
send() { [[ -n $problem ]] || printf "$@" >&"$to"; }

run() { send 'run %s %d\n%s' "$1" "${#2}" "$2"; }

line() { IFS= read -r -t "$LIMIT_S" -u "$from" REPLY; }

expect() {
    [[ -z $problem ]] || return
    line || { wrong "no answer where '$1' was due"; return; }
    # shellcheck disable=SC2053 # the expected answer is a pattern
    [[ $REPLY == $1 ]] || wrong "'$REPLY' where '$1' was due"
}

# expect_output STREAM ID TEXT: the text, in however many messages.
expect_output() {
    local have='' verb id length part
    while [[ -z $problem && ${#have} -lt ${#3} ]]; do
        line || { wrong "output ended after ${#have} bytes"; return; }
        read -r verb id length <<<"$REPLY"
        [[ "$verb $id" == "$1 $2" ]] || { wrong "'$REPLY' where '$1 $2 …' was due"; return; }
        IFS= read -r -t "$LIMIT_S" -N "$length" -u "$from" part
        have+=$part
    done
    [[ -n $problem || $have == "$3" ]] || wrong "output '${have:0:60}' where '${3:0:60}' was due"
}

# collect N: reads until N commands have ended; leaves their output and codes, by ID, in texts and codes.
collect() {
    local left=$1 verb id length part
    texts=() codes=()
    while [[ -z $problem && $left -gt 0 ]]; do
        line || { wrong "no answer where $left ends were due"; return; }
        read -r verb id length <<<"$REPLY"
        case $verb in
            out)
                IFS= read -r -t "$LIMIT_S" -N "$length" -u "$from" part
                texts[$id]+=$part
                ;;
            exit)
                codes[$id]=$length
                left=$((left - 1))
                ;;
            *) wrong "'$REPLY' where output or an end was due" ;;
        esac
    done
}

# await_end PID: a killed process needs a moment to go.
await_end() { timeout "$LIMIT_S" tail --pid="$1" -s 0.02 -f /dev/null; }

output_and_code_come_back() {
    run a 'echo hello; exit 3'
    expect_output out a $'hello\n'
    expect 'exit a 3'
}

error_stream_is_apart() {
    run a 'echo wrong >&2'
    expect_output err a $'wrong\n'
    expect 'exit a 0'
}

script_may_have_lines_quotes_and_be_empty() {
    run a $'x="a  b"\necho "$x"\n'
    expect_output out a $'a  b\n'
    expect 'exit a 0'
    run a ''
    expect 'exit a 0'
}

standard_input_is_empty() {
    run a 'cat; echo end'
    expect_output out a $'end\n'
    expect 'exit a 0'
}

commands_run_at_once() {
    # b ends a's wait: in one after the other this would hang.
    run a "while [ ! -e $scratch/flag ]; do :; done; echo a"
    run b "echo b; : >$scratch/flag"
    collect 2
    [[ ${texts[*]} == @($'a\n b\n'|$'b\n a\n') && ${codes[*]} == '0 0' ]] || wrong "got ${texts[*]}, codes ${codes[*]}"
    rm -f "$scratch/flag"
}

kill_reaches_the_whole_group() {
    local ended
    # The pipe ends when its last writer does, be it a zombie that nobody reaps.
    mkfifo "$scratch/alive"
    timeout "$LIMIT_S" cat "$scratch/alive" &
    ended=$!
    run a "{ echo up; exec sleep 100; } 9>$scratch/alive & wait"
    expect_output out a $'up\n'
    send 'kill a TERM\n'
    expect 'exit a 143'
    wait "$ended" || wrong 'the child survived'
}

signals_have_names_and_numbers() {
    run a 'kill -STOP $$; exit 5'
    send 'kill a SIGCONT\nkill a 9\n'
    expect 'exit a @(137|5)'
}

large_output_arrives_whole() {
    # shellcheck disable=SC2016 # for the command's shell
    run a 'i=0; while [ $i -lt 20000 ]; do echo 0123456789abcdef; i=$((i+1)); done'
    local text
    text=$(yes 0123456789abcdef | head -n 20000)$'\n'
    expect_output out a "$text"
    expect 'exit a 0'
}

a_host_that_does_not_read_stops_the_command_not_the_agent() {
    run a 'yes'
    run b 'echo b'
    send 'kill a KILL\n'
    # Everything that was taken before the kill is still delivered, then the code.
    collect 2
    [[ ${texts[b]} == $'b\n' && "${codes[a]} ${codes[b]}" == '137 0' ]] || wrong "got '${texts[b]}', codes ${codes[*]}"
}

what_is_left_behind_does_not_hold_the_answer() {
    run a 'sleep 100 & echo $!'
    line && read -r _ _ length <<<"$REPLY" && IFS= read -r -N "$length" -u "$from" child
    expect 'exit a 0'
    kill -0 "${child%$'\n'}" || wrong 'the background process is gone'
    kill "${child%$'\n'}"
    run a 'echo again'
    expect_output out a $'again\n'
    expect 'exit a 0'
}

hello_opens_a_new_session() {
    send 'hello\n'
    expect "ready 1 $(uname -r)"
    run a 'yes'
    run b 'sleep 100'
    send 'hello\n'
    # The old session's output may still be under way, and be cut.
    while line && [[ $REPLY != ready* ]]; do :; done
    [[ $REPLY == "ready 1 $(uname -r)" ]] || wrong "no ready"
    run a 'echo fine'
    expect_output out a $'fine\n'
    expect 'exit a 0'
}

malformed_requests_are_answered_and_skipped() {
    local request
    for request in '' ' ' run 'run a' 'run a b c d' 'kill a' 'RUN a 1' 'hello you' 'run a -1' 'run a 1x' \
        'run a 99999999999999999999999' 'kill a BANG' 'kill a 0' 'kill a 4000000000' 'kill ../a TERM' 'kill nobody TERM'; do
        send '%s\n' "$request"
        expect 'error *'
    done
    send 'run ../a 5\nxxxxxrun .a 5\nxxxxx'
    expect 'error run: an ID is *'
    expect 'error run: an ID is *'
    send 'run %040d 3\nxxx' 0
    expect 'error run: an ID is *'
    run a 'echo fine'
    expect_output out a $'fine\n'
    expect 'exit a 0'
}

oversize_is_answered_and_skipped() {
    send 'run big 1048577\n'
    expect 'error run big: the script has 1048577 bytes*'
    head -c 1048577 /dev/zero >&"$to"
    send '%0500d\n' 0
    expect 'error a request line has at most *'
    send 'kill \0 TERM\n'
    expect 'error not a request*'
    run a 'echo fine'
    expect_output out a $'fine\n'
    expect 'exit a 0'
}

largest_script_runs() {
    local script
    script=$(printf '%01048557d' 0)
    run a "echo largest # $script    "
    expect_output out a $'largest\n'
    expect 'exit a 0'
}

an_id_in_use_is_refused() {
    run a 'sleep 100'
    run a 'echo second'
    expect 'error run a: that ID is in use'
    send 'kill a KILL\n'
    expect 'exit a 137'
}

more_commands_than_allowed_are_refused() {
    local i
    for i in {1..65}; do run "c$i" 'sleep 100'; done
    expect 'error run c65: 64 commands are running*'
    for i in {1..64}; do send 'kill c%d KILL\n' "$i"; done
    for i in {1..64}; do expect 'exit c* 137'; done
    run a 'echo fine'
    expect_output out a $'fine\n'
    expect 'exit a 0'
}

garbage_never_ends_the_agent() {
    # Ends in a newline, so that what follows is a line of its own; no "run" in it whose body could swallow that line.
    { head -c 200000 /dev/urandom | tr -d 'r' && printf '\n'; } >&"$to" &
    local writer=$! n=0
    while line && [[ $REPLY == error* ]]; do
        n=$((n + 1))
        if ((n % 256 == 0)) && ! kill -0 "$writer" 2>/dev/null; then break; fi
    done
    wait "$writer"
    send 'hello\n'
    while line && [[ $REPLY == error* ]]; do :; done
    [[ $REPLY == ready* ]] || wrong "'$REPLY' where ready was due"
}

end_of_input_ends_agent_and_commands() {
    run a 'echo $$; exec sleep 100'
    line && read -r _ _ length <<<"$REPLY" && IFS= read -r -N "$length" -u "$from" child
    survivor=${child%$'\n'}
}

for case in output_and_code_come_back error_stream_is_apart script_may_have_lines_quotes_and_be_empty \
    standard_input_is_empty commands_run_at_once kill_reaches_the_whole_group signals_have_names_and_numbers \
    large_output_arrives_whole a_host_that_does_not_read_stops_the_command_not_the_agent \
    what_is_left_behind_does_not_hold_the_answer hello_opens_a_new_session malformed_requests_are_answered_and_skipped \
    oversize_is_answered_and_skipped largest_script_runs an_id_in_use_is_refused \
    more_commands_than_allowed_are_refused garbage_never_ends_the_agent end_of_input_ends_agent_and_commands; do
    check "$case"
done
if ! await_end "${survivor:?}"; then
    failed=$((failed + 1))
    printf 'WRONG a command outlived its session\n'
fi
printf 'agent: %d passed, %d failed\n' "$passed" "$failed"
[[ $failed -eq 0 ]]
