# Starts and ends the processes of scripts/bench, which sources this file.

servers=()
work= runtime=

say() {
    echo "bench: $*" >&2
}

# Starts a server in the background in a new session, so that its children end with it.
start_server() {
    local log=$1
    shift
    setsid "$@" >"$log" 2>&1 </dev/null &
    server=$!
    servers+=("$server")
}

# Ends a server and its children by the ID of the session that it was started in.
end_server() {
    local pid=$1 tenths=100
    kill -TERM -- "-$pid" 2>/dev/null || true
    while pgrep --session "$pid" --runstates R,S,D >/dev/null; do
        if ((tenths-- == 0)); then
            kill -KILL -- "-$pid" 2>/dev/null || true
            break
        fi
        sleep 0.1
    done
    wait "$pid" 2>/dev/null || true
    local left=() other
    for other in "${servers[@]}"; do
        [[ $other == "$pid" ]] || left+=("$other")
    done
    servers=("${left[@]}")
}

clean_up() {
    local server
    # A second signal must not interrupt it.
    trap '' INT TERM
    for server in "${servers[@]}"; do
        end_server "$server"
    done
    [[ -z $work ]] || rm -rf "$work"
    [[ -z $runtime ]] || rm -rf "$runtime"
}

# Waits until a process listens on a port of 127.0.0.1.
await_port() {
    local port=$1 tenths=150
    until (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do
        ((tenths-- > 0)) || return 1
        sleep 0.1
    done
}

free_ports() {
    python3 - "$1" <<'PYTHON'
import socket, sys
held = [socket.socket() for _ in range(int(sys.argv[1]))]
for one in held:
    one.bind(("127.0.0.1", 0))
print(*(one.getsockname()[1] for one in held))
PYTHON
}

# Runs one measurement that prints a JSON object in its last line, and stores it under a name:
#
#     sample NAME SECONDS_AT_MOST COMMAND…
#
# If it fails, its last output is stored instead and the run continues.
sample() {
    local name=$1 limit=$2 status=0 last
    shift 2
    timeout --foreground --kill-after=5 "$limit" "$@" >"$work/out" 2>"$work/err" </dev/null ||
        status=$?
    last=$(grep -v '^$' "$work/out" | tail -n 1) || true
    if [[ $status -eq 0 && $last == "{"* ]]; then
        printf '%s\t%s\n' "$name" "$last" >>"$work/samples"
        return 0
    fi
    last=$(cat "$work/err" "$work/out" | grep -v '^$' | tail -n 1 | cut -c 1-200) || true
    [[ $status -ne 124 ]] || last="took more than $limit s"
    say "$name: status $status: $last"
    printf '%s\t!%s\n' "$name" "status $status: ${last:-no output}" >>"$work/samples"
    return 1
}

# Stores a JSON object that the script itself has created.
keep() {
    printf '%s\t%s\n' "$1" "$2" >>"$work/samples"
}

# Starts a separate supervised stack and sets `server`. Clients find it by IMAGEBUS_RUNTIME_DIR. Its
# log is the file `stack_log`, if set, and has the level `stack_log_level`, if set.
start_stack() {
    local log=${stack_log:-$work/serve.log}
    start_server "$log" "$program" serve --log-level "${stack_log_level:-info}" \
        --allow-address "127.0.0.1:$origin_port" "$@"
    local tenths=150
    until grep -q '^ready' "$log"; do
        ((tenths-- > 0)) || return 1
        kill -0 "$server" 2>/dev/null || return 1
        sleep 0.1
    done
}
