# Sourced by ../dev: runs steps beside each other, each as soon as those that it builds on are done.
#
# A step is a name; `./dev step NAME` does it, in a process of its own because bash switches `set -e` off inside a
# function whose status is looked at. Its output goes to build/log/NAME.log. `steps_before NAME` (steps.sh) names what
# has to be done first.
# shellcheck shell=bash

readonly LOGS=build/log

# How many steps at once: those whose tests run one after another leave room for a second.
steps_at_once() {
    local cores
    cores=$(getconf _NPROCESSORS_ONLN)
    echo $((cores < 2 ? 2 : cores < 4 ? cores : 4))
}

# In a process group of its own, so that stop_steps ends what it has started, too.
start_step() {
    local name=$1
    mkdir -p "$LOGS"
    rm -f "$LOGS/$name.status"
    set -m
    (
        status=0 TIMEFORMAT='%U %S'
        started=$(date +%s)
        { time ./dev step "$name" >"$LOGS/$name.log" 2>&1 </dev/null; } 2>"$LOGS/$name.cpu" || status=$?
        echo "$(($(date +%s) - started)) $status" >"$LOGS/$name.status.new"
        mv "$LOGS/$name.status.new" "$LOGS/$name.status"
    ) &
    set +m
    running[$name]=$!
}

stop_steps() {
    local name
    for name in "${!running[@]}"; do kill -TERM -- "-${running[$name]}" 2>/dev/null || true; done
}

# The first step that waits for nothing, in the order in which they were given.
next_step() {
    local name earlier ready
    for name in "${waiting[@]}"; do
        ready=true
        for earlier in $(steps_before "$name"); do
            [[ " ${waiting[*]} ${!running[*]} " != *" $earlier "* ]] || ready=false
        done
        if $ready; then
            echo "$name"
            return
        fi
    done
}

remove_waiting() {
    local name rest=()
    for name in "${waiting[@]}"; do [ "$name" = "$1" ] || rest+=("$name"); done
    waiting=("${rest[@]}")
}

# end_step NAME SECONDS STATUS
end_step() {
    local name=$1 seconds=$2 status=$3
    unset "running[$name]"
    if [ "$status" != 0 ]; then
        printf '%-14s FAILED after %d s\n' "$name" "$seconds"
        show_failure "$LOGS/$name.log"
        failed+=("$name")
        skip_after "$name"
        return
    fi
    printf '%-14s ok %5d s %6.0f s of CPU\n' "$name" "$seconds" "$(awk '{ print $1 + $2 }' "$LOGS/$name.cpu")"
}

# show_failure LOG: which tests failed, as ctest and Node.js name them, and how the log ends.
show_failure() {
    echo "  the tests that failed, and the end of $1:"
    grep -E '^[[:space:]]*(✖|not ok) |\*\*\*(Failed|Timeout|Exception)' "$1" | sort -u | head -n 40 || true
    tail -n 40 "$1"
}

# skip_after NAME: what builds on a step that failed is not run.
skip_after() {
    local name
    for name in "${waiting[@]}"; do
        if [[ " ${waiting[*]} " == *" $name "* && " $(steps_before "$name") " == *" $1 "* ]]; then
            printf '%-14s not run, as %s failed\n' "$name" "$1"
            remove_waiting "$name"
            failed+=("$name")
            skip_after "$name"
        fi
    done
}

end_finished_steps() {
    local name seconds status
    for name in "${!running[@]}"; do
        if [ -e "$LOGS/$name.status" ]; then
            read -r seconds status <"$LOGS/$name.status"
            end_step "$name" "$seconds" "$status"
        elif ! kill -0 "${running[$name]}" 2>/dev/null; then
            end_step "$name" 0 137 # somebody has killed it
        fi
    done
}

# run_graph STEP...: all of them. What does not build on a step that fails is still run, so that one run tells everything.
run_graph() {
    local waiting=("$@") failed=() next
    local -A running=()
    trap 'stop_steps; exit 130' INT TERM HUP
    while [ ${#waiting[@]} -gt 0 ] || [ ${#running[@]} -gt 0 ]; do
        while [ ${#waiting[@]} -gt 0 ] && [ ${#running[@]} -lt "$(steps_at_once)" ]; do
            next=$(next_step)
            [ -n "$next" ] || break
            remove_waiting "$next"
            start_step "$next"
        done
        wait -n || true
        end_finished_steps
    done
    trap - INT TERM HUP
    [ ${#failed[@]} -eq 0 ] || {
        echo "failed: ${failed[*]}"
        exit 1
    }
}
