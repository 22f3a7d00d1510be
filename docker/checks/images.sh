# shellcheck shell=bash
# One small image per process.

base_image=debian:bookworm-slim
# The size that an image may add to its base, in megabytes: without libvips, with it, and for
# download, which alone has libcurl and its libraries.
plain_megabytes=45 vips_megabytes=445 download_megabytes=46

# The inputs of the Dockerfile's build stage, besides the sources.
build_stage_inputs=(docker/Dockerfile .dockerignore Package.swift scripts/setup scripts/build)
build_stage_digest=docker/build-stage.sha256

image_targets=(client example gateway "${services[@]}" stack stacktools)

build_images() {
    local start=$SECONDS target dockerfile=docker/Dockerfile context=.
    if builds_in_containers; then
        say "building the programs in a container, as the Dockerfile says"
    else
        say "building images from the programs of scripts/build"
        scripts/build --test-programs >&2
        context=$work/context dockerfile=$work/context/Dockerfile
        strip_programs "$context/programs"
        make_context "$context"
    fi
    for target in "${image_targets[@]}"; do
        say "building $target"
        quietly env DOCKER_BUILDKIT=0 docker build --file "$dockerfile" --target "$target" \
            --tag "imagebus-$target" "$context"
    done
    say "building watermark"
    build_extension
    say "images took $((SECONDS - start)) s"
}

# Whether to run the Dockerfile's build stage: on request, if it has changed since it was tested,
# and if this machine's programs would differ from those of the container.
builds_in_containers() {
    [[ ${IMAGEBUS_TEST_BUILD:-1} != whole ]] || return 0
    if ! sha256sum --check --status "$build_stage_digest" 2>/dev/null; then
        say "the build stage has changed since it was tested; \
docker/test --whole tests it and writes $build_stage_digest"
        return 0
    fi
    ! is_same_system
}

# Whether this machine has the release and toolchain of the Dockerfile's swift:VERSION-CODENAME.
is_same_system() {
    local wanted codename version
    wanted=$(sed -nE 's/^FROM swift:([^ ]+) AS build$/\1/p' docker/Dockerfile)
    codename=$(sed -nE 's/^VERSION_CODENAME=//p' /etc/os-release)
    version=$(swift --version 2>/dev/null | sed -nE 's/.*Swift version ([0-9.]+) .*/\1/p')
    [[ -n $wanted && $version-$codename == "$wanted" ]] && return
    say "this machine is ${version:-without Swift} on ${codename:-another system}, not $wanted"
    return 1
}

image_programs=(
    imagebus imagebus-{coordinator,download,cache,decode,transform,gateway} thumbnailer
    stack-origin stack-load sandbox-probe
)

# Builds the layers with packages, which don't depend on the programs; the engine caches them for
# `build_images`.
build_package_layers() {
    local target context=$work/context
    mkdir -p "$context/programs"
    for target in "${image_programs[@]}"; do : >"$context/programs/$target"; done
    make_context "$context"
    for target in "${image_targets[@]}"; do
        quietly env DOCKER_BUILDKIT=0 docker build --file "$context/Dockerfile" \
            --target "$target" "$context"
    done
    quietly build_systemd
    quietly build_extension
}

# strip_programs DIRECTORY: the programs built on this machine, without symbols.
strip_programs() {
    local program
    mkdir -p "$1"
    for program in "${image_programs[@]}"; do
        strip -o "$1/$program" ".build/release/$program"
    done
}

# make_context DIRECTORY: the Dockerfile with DIRECTORY/programs and pictures in place of its two
# build stages.
make_context() {
    docker/make-pictures "$1/pictures"
    awk '
        /^FROM / { is_left_out = 0 }
        /^FROM swift:.* AS build$/ {
            print "FROM '"$base_image"' AS build\nCOPY programs /programs"
            is_left_out = 1
        }
        /^FROM build AS build-stacktools$/ {
            print "FROM build AS build-stacktools\nCOPY pictures /pictures"
            is_left_out = 1
        }
        !is_left_out { print }
    ' docker/Dockerfile >"$1/Dockerfile"
}

# The build stage ran and all checks passed, so it isn't run again until it changes.
keep_build_stage_digest() {
    sha256sum "${build_stage_inputs[@]}" >"$build_stage_digest"
    say "wrote $build_stage_digest"
}

image_bytes() { docker image inspect --format '{{.Size}}' "$1"; }

check_images() {
    local target limit added base
    base=$(image_bytes "$base_image")
    for target in client gateway "${services[@]}"; do
        limit=$plain_megabytes
        case $target in
        decode | transform) limit=$vips_megabytes ;;
        download) limit=$download_megabytes ;;
        esac
        added=$((($(image_bytes "imagebus-$target") - base + 999999) / 1000000))
        verdict $((added > limit)) "image $target adds at most $limit MB" "$added MB"
    done
    check_stack_image
}

# http_status ADDRESS:PORT PATH
http_status() {
    (
        exec 3<>"/dev/tcp/${1%:*}/${1##*:}"
        printf 'GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' "$2" >&3
        read -r _ status _ <&3
        echo "$status"
    ) 2>/dev/null
}

is_ready() { [[ $(http_status "$1" /ready) == 200 ]]; }

# One container with the variables of imgproxy, as in Proto/Migration/imgproxy.md.
check_stack_image() {
    local id place found status=0
    id=$(docker run --detach --label "com.docker.compose.project=$project" --shm-size 256m \
        --publish 127.0.0.1::8080 --env IMGPROXY_KEY=736563726574 --env IMGPROXY_SALT=68656C6C6F \
        imagebus-stack)
    place=$(docker port "$id" 8080/tcp)
    wait_until "$healthy_seconds" is_ready "$place" || status=1
    found=$(http_status "$place" /unsafe/plain/https://example.com/a.jpg) || status=1
    [[ $found == 403 ]] || status=1
    verdict "$status" "image stack runs with imgproxy's variables" "unsigned: $found"
    docker rm --force "$id" >/dev/null
}
