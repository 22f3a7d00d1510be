# The sides compared by scripts/disk-bench, which sources this file.

prepare_disk() {
    scripts/setup --bench
    scripts/build >&2
    # Built with the same options as scripts/build, so that the two share their modules.
    swift build --configuration release --static-swift-stdlib -Xswiftc -Xfrontend \
        -Xswiftc -function-sections --product disk-bench >&2
    work=$(mktemp -d "$directory/ib-disk.XXXXXX")
    reader=$work/disk-reader
    "$(command -v cc || command -v gcc || command -v clang)" -O2 -std=gnu11 -D_GNU_SOURCE \
        "$here/disk-reader.c" -o "$reader" -lpthread
    # nginx may run as another user.
    chmod 755 "$work"
    : >"$work/samples"
    mkdir "$work/site"
    "$bench" site "$work/site" "$scale"
}

# Drops the page cache, so that data is read from the disk. Only root can do this.
empty_page_cache() {
    sync
    [[ ! -w /proc/sys/vm/drop_caches ]] || echo 3 >/proc/sys/vm/drop_caches 2>/dev/null || true
}

# Stores entries, then reads in process; then reads and trims in separate programs; then stores
# beyond a limit.
measure_imagebus() {
    mkdir -m 700 "$work/imagebus"
    driven stage.store "$bench" stage store "$work/imagebus" "$entries" "$scale"
    measure_space stage.disk disk_mb "$work/imagebus"
    empty_page_cache
    driven stage.read "$bench" stage read "$work/imagebus" "$entries" "$scale"
    empty_page_cache
    measure_client
    empty_page_cache
    driven stage.over "$bench" stage over "$work/imagebus" "$entries" "$scale"
    measure_space stage.over over_disk_mb "$work/imagebus"
    rm -rf "${work:?}/imagebus"
}

# The client is started first and waits until the stack responds.
measure_client() {
    runtime=$(mktemp -d "$directory/ib-run.XXXXXX")
    start_server "$work/serve.log" "$program" serve --runtime-dir "$runtime" \
        --cache-dir "$work/imagebus" --disk-entries "$entries" --memory-limit 16M \
        --decode 1 --transform 1
    driven client.serve "$bench" client serve "$runtime" "$entries" "$scale"
    measure_memory client serve imagebus-cache
    end_server "$server"
    rm -rf "$runtime"
    runtime=
}

measure_plain() {
    mkdir "$work/plain"
    driven plain.store "$bench" plain store "$work/plain" "$entries" "$scale"
    measure_space plain.disk disk_mb "$work/plain"
    empty_page_cache
    driven plain.serve "$bench" plain serve "$work/plain" "$entries" "$scale"
    rm -rf "${work:?}/plain"
}

measure_space() {
    local bytes
    bytes=$(du --summarize --block-size=1 "$3" | cut -f 1)
    keep "$1" "{\"$2\": $(awk "BEGIN { print $bytes / 1e6 }")}"
}

# Passes progress through; the last line is the result.
driven() {
    local name=$1 line
    shift
    if line=$("$@"); then
        say "  $name: $line"
        keep "$name" "$line"
    else
        say "$name failed"
        keep "$name" "!failed"
    fi
}

# Records the peak memory of any process of the server with that name, including shared memory.
measure_memory() {
    local most
    most=$(for pid in $(pgrep --session "$server" --full "$3"); do
        grep VmHWM "/proc/$pid/status" 2>/dev/null
    done | awk '$2 > most { most = $2 } END { print most * 1024 / 1e6 }')
    keep "$1.$2" "{\"$2_peak_mb\": $most}"
}

measure_nginx() {
    mkdir "$work/nginx"
    read -r cache_port origin_port < <(free_ports 2)
    start_proxy 1000g
    await_proxy
    local tenth=$((entries / 10)) begin end
    for ((begin = 0; begin < entries; begin += tenth)); do
        end=$((begin + tenth < entries ? begin + tenth : entries))
        load store 16 "$begin" $((end - begin)) in-order
    done
    measure_memory nginx store nginx
    measure_space nginx.disk disk_mb "$work/nginx"
    end_server "$server"
    empty_page_cache
    # nginx serves at once, but only knows its entries when its loader has finished.
    local started
    started=$(date +%s%N)
    start_proxy 1000g
    await_proxy
    keep nginx.open "{\"open_ms\": $((($(date +%s%N) - started) / 1000000))}"
    reads=$((entries < 40000 ? entries / 4 : 10000))
    load first 1 0 "$reads" random
    load again 1 0 "$reads" random
    await_loader
    measure_memory nginx serve nginx
    end_server "$server"
    trim_proxy
    rm -rf "${work:?}/nginx"
}

# load NAME CONNECTIONS FIRST COUNT in-order|random
load() {
    local line
    line=$(timeout 1h "$reader" "$cache_port" "$2" "$3" "$4" "$entries" "$5") ||
        line="!failed: $line"
    say "  nginx.$1 from $3: $line"
    keep "nginx.$1" "$line"
}

# One megabyte of the zone holds 8,000 keys.
start_proxy() {
    sed -e "s|@WORK@|$work|; s|@PLACE@|$work/nginx|; s|@USER@|$(id -un)|
        s|@CACHE_PORT@|$cache_port|; s|@ORIGIN_PORT@|$origin_port|; s|@MAX@|$1|
        s|@ZONE@|$((entries / 8000 + entries / 40000 + 2))|" \
        "$here/disk-nginx.conf" >"$work/nginx.conf"
    start_server "$work/nginx.out" nginx -p "$work" -c "$work/nginx.conf" -e "$work/nginx.log"
}

# Waits until the proxy has served an image.
await_proxy() {
    local number=$((entries - 1)) tries=2000
    until "$reader" "$cache_port" 1 "$number" 1 "$entries" in-order >/dev/null 2>&1; do
        ((tries-- > 0)) || {
            tail -n 3 "$work/nginx.out" "$work/nginx.log" >&2
            exit 1
        }
        sleep 0.005
    done
}

# Waits until the loader has started, one minute after the server.
await_loader() {
    local started since
    started=$(stat --format=%Y "$work/nginx.pid")
    while pgrep --session "$server" --full 'cache loader' >/dev/null; do
        sleep 1
        (($(date +%s) - started < 900)) || break
    done
    since=$(($(date +%s) - started - 60))
    keep nginx.loader "{\"loader_s\": $((since > 0 ? since : 0))}"
}

# Restarts with half of its data as the limit: first the loader must find everything. Reads continue
# meanwhile.
trim_proxy() {
    local bytes left=$entries before=0 started=0 limit=$((SECONDS + 900))
    bytes=$(du --summarize --block-size=1 "$work/nginx" | cut -f 1)
    start_proxy "$((bytes / 2 / 1048576))m"
    await_proxy
    # Trimming is over when no more is removed than reads bring back.
    while ((SECONDS < limit && (started == 0 || left < before))); do
        before=$left
        if ((started > 0)); then
            load trimming 1 0 "$reads" random
        else
            load waiting 1 0 "$reads" random
        fi
        left=$(find "$work/nginx" -type f | wc -l)
        ((started > 0 || left >= entries)) || started=$SECONDS
        say "  $left left"
    done
    keep nginx.trim "{\"trim_s\": $((SECONDS - started)), \"trim_left\": $left}"
    end_server "$server"
}
