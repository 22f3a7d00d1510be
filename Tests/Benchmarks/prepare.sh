# Prerequisites of the measurements: programs, a photo, and the reference servers. Sourced by
# scripts/bench.

prepare() {
    say "preparing"
    scripts/setup --bench
    [[ -n ${IMAGEBUS_PROGRAMS:-} ]] || scripts/build >&2
    mkdir -p "$kept"
    make_places
    compile_references
    find_photo
    start_nginx
    make_result
    start_thumbor || true
}

make_places() {
    local fast=${TMPDIR:-/tmp}
    [[ ! -d /dev/shm || ! -w /dev/shm ]] || fast=/dev/shm
    work=$(mktemp -d "$fast/ib-bench.XXXXXX")
    runtime=$(mktemp -d "$fast/ib-bench.XXXXXX")
    mkdir "$work/site" "$work/cache" "$work/compared"
    : >"$work/samples"
    unset IMAGEBUS_ENDPOINT IMAGEBUS_CONFIG
    export IMAGEBUS_RUNTIME_DIR=$runtime IMAGEBUS_CACHE_DIR=$work/cache
}

compile_references() {
    local compiler name
    compiler=$(command -v cc || command -v gcc || command -v clang)
    for name in router-echo vips-loop vips-pages psnr; do
        # shellcheck disable=SC2046
        "$compiler" -O2 -std=gnu11 "$here/$name.c" -o "$kept/$name" \
            $(pkg-config --cflags --libs libzmq vips) -lm
    done
}

# The photo of the fixtures, or one that's drawn once.
find_photo() {
    local fixtures=${IMAGEBUS_FIXTURES:-../shared/fixtures}
    photo=$fixtures/photos/photo-2725x2225.jpg photo_name="the photo of the fixtures"
    if [[ ! -r $photo ]]; then
        photo=$kept/drawn-2725x2225.jpg photo_name="a drawn photo (the fixtures are not here)"
        [[ -r $photo ]] || scripts/draw-photo "$photo" 85
        say "there is no photo in $fixtures: measuring with a drawn one"
    fi
    cp "$photo" "$work/site/photo.jpg"
    photo=$work/site/photo.jpg
    for row in "${rows[@]}"; do
        case $row in
        in-*) make_source "${row#in-}" ;;
        anim-*) make_motion "$work/site/motion.gif" 60 480 360 ;;
        play) make_motion "$work/site/motion.webp" 100 480 360 ;;
        esac
    done
}

# Converts the photo to another format with that format's tools; an SVG is drawn.
make_source() {
    local format=$1 made=$work/site/photo.$1
    case $format in
    heic) heif-enc --quality 80 -o "$made" "$photo" ;;
    avif) heif-enc --avif --quality 60 -p speed=8 -o "$made" "$photo" ;;
    tiff) vips tiffsave "$photo" "$made" --compression deflate --predictor horizontal --strip ;;
    svg) python3 "$here/drawing.py" >"$made" ;;
    esac >&2
}

# Creates an animation. Arguments: file, frames, width, height.
make_motion() {
    [[ -r $1 ]] || /usr/bin/python3 "$here/animation.py" make "$@" "$photo" >&2
}

# Starts one nginx: the reference for hits, and the origin of every cold image, for Imagebus and
# thumbor.
start_nginx() {
    read -r cache_port origin_port thumbor_port < <(free_ports 3)
    sed -e "s|@WORK@|$work|; s|@USER@|$(id -un)|; s|@CACHE_PORT@|$cache_port|
        s|@ORIGIN_PORT@|$origin_port|" "$here/nginx.conf" >"$work/nginx.conf"
    start_server "$work/nginx.out" nginx -p "$work" -c "$work/nginx.conf" -e "$work/nginx.log"
    nginx=$server
    if ! await_port "$cache_port" || ! await_port "$origin_port"; then
        tail -n 3 "$work/nginx.out" "$work/nginx.log" >&2
        say "nginx does not start"
        exit 1
    fi
    photo_url=http://127.0.0.1:$origin_port/photo
    motion_url=http://127.0.0.1:$origin_port/motion
}

# The steps of a load of the photo in all compared measurements.
steps=(--resize 512x512 --mode fit --quality 80)

# Creates the 37 KB result of a hit with Imagebus; nginx serves it as well.
make_result() {
    "$program" get "$photo_url/0.jpg" "${steps[@]}" --format jpeg --private --log-level error \
        --allow-address "127.0.0.1:$origin_port" -o "$work/site/result.jpg" >&2
    local url=http://127.0.0.1:$cache_port/result.jpg
    python3 -c 'import sys, urllib.request as u; u.urlopen(sys.argv[1]).read()' "$url"
}

# Starts thumbor from PyPI in a separate directory, with one process per core. Sets `thumbor` to its
# URL for the photo and `thumbor_unsafe` to its base URL; empty if it's unavailable.
start_thumbor() {
    local venv=$kept/thumbor
    thumbor= thumbor_unsafe= thumbor_missing=
    [[ " ${rows[*]} " =~ " "(cold-|in-|anim-|web-cold) ]] || return 0
    if [[ ! -x $venv/bin/thumbor ]]; then
        say "installing thumbor with pip"
        if ! { python3 -m venv "$venv" && timeout 180 "$venv/bin/pip" install --quiet \
            --disable-pip-version-check thumbor pillow-heif cairosvg; } >"$work/pip.log" 2>&1; then
            thumbor_missing="pip cannot install thumbor: $(tail -n 1 "$work/pip.log")"
            say "$thumbor_missing"
            return 1
        fi
    fi
    start_server "$work/thumbor.log" "$venv/bin/thumbor" --ip 127.0.0.1 --port "$thumbor_port" \
        --processes "$cores" --conf "$here/thumbor.conf" --log-level error
    if ! await_port "$thumbor_port"; then
        thumbor_missing="thumbor does not start: $(tail -n 1 "$work/thumbor.log")"
        say "$thumbor_missing"
        return 1
    fi
    thumbor_unsafe=http://127.0.0.1:$thumbor_port/unsafe
    thumbor=$thumbor_unsafe/fit-in/512x512
}

# Describes how the results were obtained, for the reader.
describe_settings() {
    python3 - "$work/settings.json" "$kept" <<PYTHON
import json, sys
json.dump({
    "kept": sys.argv[2],
    "image": "$photo_name, $(stat --format=%s "$photo") bytes → 512x512 fit",
    "rounds": "$rounds, in turns, medians",
    "hits": "$hit_seconds s each, $(stat --format=%s "$work/site/result.jpg") bytes, wrk -t1 -c64",
    "cold": "$cold_seconds s each, $cold_concurrency at a time (thumbor $thumbor_concurrency), "
        "origin nginx",
    "quality": "JPEG 80, WebP 75, AVIF 60 at speed 8",
    "animations": "the photo, slowly moved, 480x360: 60 frames as GIF → 240x180, 100 as WebP",
    "thumbor": "$cores processes, Pillow, no storage, thumbor.conf",
    "libvips loop": "$cores processes, concurrency 1, no cache, PNG level 1 with sub rows",
    "extensions": "$cost_rounds turns of $cost_seconds s each beside foreign pools",
}, open(sys.argv[1], "w"), ensure_ascii=False)
PYTHON
}
