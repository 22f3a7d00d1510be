# One function per row: Imagebus and its references alternately, so that both see the same
# conditions. Sourced by scripts/bench.

ours() {
    local name=$1 limit=$2
    shift 2
    sample "$name" "$limit" "$program" bench "$@" --private --json --log-level error || true
}

# Loads the photo repeatedly at the compared size.
ours_photo() {
    local name=$1 kind=$2 path=$3
    shift 3
    ours "$name" 60 "$kind" "$photo_url/$path" "${steps[@]}" \
        --allow-address "127.0.0.1:$origin_port" "$@"
}

load_by_wrk() {
    local name=$1 script=$2 connections=$3 seconds=$4 url=$5
    sample "$name" $((seconds + 30)) wrk --threads 1 --connections "$connections" \
        --duration "${seconds}s" --timeout 30s --script "$here/wrk-$script.lua" "$url" || true
}

# Hits by message and by voucher, with several numbers of hot images and threads.
measure_hit() {
    local round hot threads result=http://127.0.0.1:$origin_port/result.jpg
    start_stack --memory-limit 1G || {
        keep hit.ours '!no stack starts'
        return 1
    }
    for ((round = 0; round < rounds; round++)); do
        hit_of hit.ours --hot 64 --concurrency 64 --by-message
        hit_of hit.10000.message --hot 10000 --concurrency 64 --by-message
        for hot in 1 64 2000 10000; do
            for threads in 1 2; do
                hit_of "hit.$hot.$threads" --hot "$hot" --threads "$threads"
            done
        done
        load_by_wrk hit.nginx report 64 "$hit_seconds" "http://127.0.0.1:$cache_port/result.jpg"
    done
    end_server "$server"
}

hit_of() {
    local name=$1
    shift
    sample "$name" 120 "$program" bench hit "$result?{n}" --original "$@" --json \
        --seconds "$hit_seconds" || true
}

# The size of the two messages of a hit, as counted by the coordinator.
measure_frames() {
    local before after
    start_stack || {
        keep frames '!no stack starts'
        return 1
    }
    before=$("$program" status --json)
    "$program" bench hit "$photo_url/1.jpg" "${steps[@]}" --format jpeg --concurrency 1 \
        --by-message --seconds 1 >/dev/null
    after=$("$program" status --json)
    end_server "$server"
    frames=$(python3 - "$before" "$after" <<'PYTHON'
import json, sys
before, after = ({s["name"]: s for s in json.loads(a)["sockets"]}["front"] for a in sys.argv[1:])
def mean(way):
    messages = after["messages" + way] - before["messages" + way]
    return round((after["bytes" + way] - before["bytes" + way]) / messages)
print(json.dumps({"load": mean("Received"), "reply": mean("Sent")}))
PYTHON
    )
    keep frames "$frames"
}

measure_one() {
    local round load reply
    measure_frames || return 0
    # A message is a header of 8 bytes and a body.
    load=$(($(field load "$frames") - 8)) reply=$(($(field reply "$frames") - 8))
    for ((round = 0; round < rounds; round++)); do
        ours_photo one.voucher hit 1.jpg --format jpeg --threads 1 --seconds "$hit_seconds"
        ours_photo one.ours hit 1.jpg --format jpeg --concurrency 1 --by-message \
            --seconds $((3 * hit_seconds))
        sample one.echo 30 "$kept/router-echo" "ipc://$runtime/echo" "$load" "$reply" 1 \
            "$hit_seconds" || true
        load_by_wrk one.nginx report 1 "$hit_seconds" "http://127.0.0.1:$cache_port/result.jpg"
    done
    sample one.echo64 30 "$kept/router-echo" "ipc://$runtime/echo" "$load" "$reply" 64 \
        "$hit_seconds" || true
}

field() {
    python3 -c 'import json, sys; print(json.loads(sys.argv[2])[sys.argv[1]])' "$@"
}

measure_cold_jpeg() {
    measure_cold cold-jpeg jpg jpeg 80
    ours_photo cold-64.ours cold '{n}.jpg' --format jpeg --concurrency 64 --seconds "$cold_seconds"
}
measure_cold_png() { measure_cold cold-png jpg png 80; }
measure_cold_webp() { measure_cold cold-webp jpg webp 75; }
measure_cold_avif() { measure_cold cold-avif jpg avif 60; }
measure_in_heic() { measure_cold in-heic heic jpeg 80; }
measure_in_avif() { measure_cold in-avif avif jpeg 80; }
measure_in_tiff() { measure_cold in-tiff tiff jpeg 80; }
measure_in_svg() { IMAGEBUS_VECTOR=$cores measure_cold in-svg svg jpeg 80; }

# Converts an image from one format to another with all programs that can read it.
measure_cold() {
    local name=$1 source=$2 format=$3 quality=$4 round
    local filters=/filters:format\($3\):quality\($4\)
    for ((round = 0; round < rounds; round++)); do
        ours_photo "$name.ours" cold "{n}.$source" --format "$format" --quality "$quality" \
            --concurrency "$cold_concurrency" --seconds "$cold_seconds"
        if [[ -n $thumbor ]]; then
            load_by_wrk "$name.thumbor" count "$thumbor_concurrency" "$cold_seconds" \
                "$thumbor$filters/127.0.0.1:$origin_port/photo/{n}.$source"
        fi
        sample "$name.loop" 60 "$kept/vips-loop" "$work/site/photo.$source" 512 "$format" \
            "$quality" "$cores" "$cold_seconds" "$work/compared/loop" || true
    done
    [[ -n $thumbor ]] || keep "$name.thumbor" "!no reference: $thumbor_missing"
    compare_images "$name" "$source" "$format" "$quality"
}

# How close each result comes to the best possible reduction of the whole image.
compare_images() {
    local name=$1 source=$2 format=$3 quality=$4 images=(ours loop)
    "$program" get "$photo_url/0.$source" --resize 512x512 --mode fit --format "$format" \
        --quality "$quality" --private --log-level error \
        --allow-address "127.0.0.1:$origin_port" -o "$work/compared/ours" >&2 || true
    if [[ -n $thumbor ]] &&
        python3 -c 'import sys, urllib.request as u; u.urlretrieve(*sys.argv[1:])' \
            "$thumbor$filters/127.0.0.1:$origin_port/photo/0.$source" "$work/compared/thumbor"; then
        images+=(thumbor)
    fi
    (cd "$work/compared" &&
        sample "$name.psnr" 60 "$kept/psnr" "$work/site/photo.$source" "${images[@]}") || true
    rm -f "$work"/compared/*
}

measure_anim_gif() {
    measure_animation anim-gif gif -layers OptimizeTransparency
}
measure_anim_webp() { measure_animation anim-webp webp -quality 75; }

# Reduces a GIF of 60 frames to half its size in a format, with all programs that can. The other
# arguments are ImageMagick's options for it.
measure_animation() {
    local name=$1 format=$2 round
    shift 2
    local small=(--animated --resize 240x180 --mode fit --format "$format" --quality 75)
    local site=$thumbor_unsafe/fit-in/240x180/filters:format\($format\):quality\(75\)
    local original=$work/site/motion.gif folder=$work/compared
    for ((round = 0; round < rounds; round++)); do
        ours "$name.ours" 90 cold "$motion_url/{n}.gif" "${small[@]}" \
            --allow-address "127.0.0.1:$origin_port" --concurrency "$cold_concurrency" \
            --seconds $((2 * cold_seconds))
        if [[ -n $thumbor ]]; then
            load_by_wrk "$name.thumbor" count "$thumbor_concurrency" $((2 * cold_seconds)) \
                "$site/127.0.0.1:$origin_port/motion/{n}.gif"
        fi
        sample "$name.magick" 90 python3 "$here/command-loop.py" "$cores" $((2 * cold_seconds)) \
            "$folder/magick.$format" convert "$original" -coalesce -resize 240x180 "$@" '{out}' ||
            true
    done
    [[ -n $thumbor ]] || keep "$name.thumbor" "!no reference: $thumbor_missing"
    "$program" get "$motion_url/0.gif" "${small[@]}" --private --log-level error \
        --allow-address "127.0.0.1:$origin_port" -o "$folder/ours.$format" >&2 || true
    [[ -z $thumbor ]] ||
        python3 -c 'import sys, urllib.request as u; u.urlretrieve(*sys.argv[1:])' \
            "$site/127.0.0.1:$origin_port/motion/0.gif" "$folder/thumbor.$format" || true
    local side
    for side in ours thumbor magick; do
        [[ ! -e $folder/$side.$format ]] ||
            sample "$name.kept.$side" 60 /usr/bin/python3 "$here/animation.py" tell \
                "$folder/$side.$format" "$original" || true
    done
    rm -f "$folder"/*
}

# Two players of a WebP with 100 frames, compared to loading its pages with libvips.
measure_play() {
    local round way
    for ((round = 0; round < rounds; round++)); do
        ours play.ours 120 play "$motion_url/{n}.webp" --seconds $((2 * cold_seconds)) \
            --allow-address "127.0.0.1:$origin_port"
        for way in each all; do
            sample "play.$way" 120 "$kept/vips-pages" "$work/site/motion.webp" "$way" "$cores" \
                "$cold_seconds" || true
        done
    done
}

measure_cancel() {
    ours cancel 180 cancel --seconds "$cancel_seconds"
}

measure_storm() {
    local few=()
    [[ -z $quick ]] || few=(--concurrency 1000)
    ours storm 180 storm "${few[@]}"
}

# The private memory of a stack's processes, without the tmpfs for payloads that they share. One
# worker of each kind; measured again after 1,000 requests.
measure_idle() {
    local few=1000
    [[ -z $quick ]] || few=100
    if ! start_stack --download 1 --decode 1 --transform 1; then
        keep idle '!no stack starts'
        return 0
    fi
    sleep 2
    keep idle "$(memory_of_session "$server")"
    if sample mixed 120 "$program" bench mixed "$photo_url/{n}.jpg" --seconds 100 \
        --requests "$few" --json; then
        sleep 2
        keep idle-after "$(memory_of_session "$server")"
    else
        keep idle-after '!the requests went wrong'
    fi
    end_server "$server"
}

memory_of_session() {
    python3 - "$1" <<'PYTHON'
import json, subprocess, sys
by_process, total = {}, 0.0
for pid in subprocess.check_output(["pgrep", "--session", sys.argv[1]], text=True).split():
    sizes = {}
    for line in open(f"/proc/{pid}/smaps_rollup"):
        words = line.split()
        if words[0] in ("Pss:", "Pss_Shmem:"):
            sizes[words[0]] = int(words[1])
    megabytes = (sizes["Pss:"] - sizes["Pss_Shmem:"]) * 1024 / 1e6
    name = open(f"/proc/{pid}/cmdline").read().split("\0")[0].rpartition("/")[2]
    by_process[name] = round(megabytes, 1)
    total += megabytes
print(json.dumps({"megabytes": round(total, 1), "processes": by_process}))
PYTHON
}

# The time from exec to the first byte of `get --private`, and from exec to Welcome for each kind of
# worker.
measure_start() {
    sample start 120 python3 "$here/start.py" "$starts" "$program" get "$photo_url/0.jpg" \
        "${steps[@]}" --format jpeg --private --allow-address "127.0.0.1:$origin_port" \
        --log-level error -o - || true
    stack_log_level=debug start_stack --download 1 --decode 1 --transform 1 || return 0
    end_server "$server"
    sample start-workers 10 python3 "$here/start.py" --log "$work/serve.log" || true
}
