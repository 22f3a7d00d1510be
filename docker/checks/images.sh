# shellcheck shell=bash
# One image for each process, small.

base_image=debian:bookworm-slim
# What an image may add to its base, in megabytes: without libvips and with it.
plain_megabytes=45 vips_megabytes=445

build_images() {
    local start=$SECONDS target
    for target in client example "${services[@]}" stacktools; do
        say "building $target"
        quietly env DOCKER_BUILDKIT=0 docker build --file docker/Dockerfile --target "$target" \
            --tag "imagebus-$target" .
    done
    say "images took $((SECONDS - start)) s"
}

image_bytes() { docker image inspect --format '{{.Size}}' "$1"; }

check_images() {
    local target limit added base
    base=$(image_bytes "$base_image")
    for target in client "${services[@]}"; do
        limit=$plain_megabytes
        [[ $target != decode && $target != transform ]] || limit=$vips_megabytes
        added=$((($(image_bytes "imagebus-$target") - base + 999999) / 1000000))
        verdict $((added > limit)) "image $target adds at most $limit MB" "$added MB"
    done
}
