# The HTTP front compared to nginx and thumbor: one function per row. Sourced by scripts/bench.

# Starts a stack with a gateway. Sets `web` to the gateway's URL for the photo, and `gateway` to its
# process ID. Its responses stay fresh for a day, like those cached by nginx.
start_gateway() {
    [[ -z ${gateway:-} ]] || return 0
    start_stack "$@" || {
        say "no stack starts"
        return 1
    }
    web_stack=$server
    read -r gateway_port < <(free_ports 1)
    start_server "$work/gateway.log" "${program%/*}/imagebus-gateway" \
        --runtime-dir "$runtime" --listen "127.0.0.1:$gateway_port" --unsigned \
        --trusted-proxy 127.0.0.1 --client-header X-Visitor \
        --assume-fresh 86400 --connections-per-address 0
    gateway=$server
    await_port "$gateway_port" || {
        say "no gateway starts: $(tail -n 1 "$work/gateway.log")"
        end_gateway
        return 1
    }
    web=http://127.0.0.1:$gateway_port/unsafe/rs:fit:512:512/q:80/f:jpg/plain/$photo_url
}

end_gateway() {
    end_server "$gateway"
    end_server "$web_stack"
    gateway=
}

# Load by wrk, and the CPU time that a server used per request, measured for its session:
#
#     load_a_server NAME SESSION SCRIPT CONNECTIONS SECONDS URL [HEADER]
load_a_server() {
    local name=$1 session=$2 script=$3 connections=$4 seconds=$5 url=$6 header=${7:-X-None: 0}
    sample "$name" $((seconds + 60)) python3 "$here/web.py" cpu "$session" \
        wrk --threads 1 --connections "$connections" --duration "${seconds}s" --timeout 30s \
        --header "$header" --script "$here/wrk-$script.lua" "$url" || true
}

# Hits and responses without a body, with 64 connections, compared to nginx and its cache.
measure_web_hit() {
    local round tag nginx_url=http://127.0.0.1:$cache_port/result.jpg
    local seconds=$((3 * hit_seconds))
    start_gateway || return 0
    for ((round = 0; round < rounds; round++)); do
        load_a_server web-hit.ours "$gateway" report 64 "$seconds" "$web/1.jpg"
        load_a_server web-hit.nginx "$nginx" report 64 "$seconds" "$nginx_url"
        tag=$(python3 "$here/web.py" tag "$web/1.jpg")
        load_a_server web-304.ours "$gateway" same 64 "$hit_seconds" "$web/1.jpg" \
            "If-None-Match: $tag"
        tag=$(python3 "$here/web.py" tag "$nginx_url")
        load_a_server web-304.nginx "$nginx" same 64 "$hit_seconds" "$nginx_url" \
            "If-None-Match: $tag"
    done
    end_gateway
}

# A different image for each request: transformed but not stored by thumbor, transformed and stored
# by Imagebus.
measure_web_cold() {
    local round filters=/filters:format\(jpeg\):quality\(80\)
    start_gateway || return 0
    for ((round = 0; round < rounds; round++)); do
        load_by_wrk web-cold.ours count "$cold_concurrency" "$cold_seconds" "$web/{n}.jpg"
        if [[ -n $thumbor ]]; then
            load_by_wrk web-cold.thumbor count "$thumbor_concurrency" "$cold_seconds" \
                "$thumbor$filters/127.0.0.1:$origin_port/photo/{n}.jpg"
        fi
    done
    [[ -n $thumbor ]] || keep web-cold.thumbor "!no reference: $thumbor_missing"
    end_gateway
}

# Idle keep-alive connections, and hits next to them.
measure_web_idle() {
    local count=10000
    [[ -z $quick ]] || count=500
    start_gateway || return 0
    sample web-idle 120 python3 "$here/web.py" idle "$gateway" "$web/1.jpg" "$count" || true
    end_gateway
}

# A client that requests one image after the other, alone and next to one that requests thousands.
measure_web_fair() {
    local count=5000
    [[ -z $quick ]] || count=200
    start_gateway || return 0
    sample web-fair 240 python3 "$here/web.py" fair "$web" "$count" || true
    end_gateway
}
