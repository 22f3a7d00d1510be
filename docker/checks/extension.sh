# shellcheck shell=bash
# A third-party program next to the stack, as in docker/extension/compose.yaml. It has its own
# stack, since the coordinator reads the list of pools at startup.

extension_project=imagebus-test-extension-$$

compose_extension() {
    # The image exists already, but the context must still be a directory.
    IMAGEBUS_EXTENSION_CONTEXT=$work docker-compose --project-name "$extension_project" \
        --file docker/compose.yaml --file docker/test.yaml \
        --file docker/extension/compose.yaml --ansi never "$@" </dev/null
}

build_extension() {
    PYTHON=$(scripts/python-venv) docker/extension/make-context "$work/extension"
    quietly env DOCKER_BUILDKIT=0 docker build --tag imagebus-watermark "$work/extension"
}

check_extension() {
    quietly compose_extension up --detach --no-build origin "${services[@]}" watermark
    check_extension_does_its_step
    check_extension_borders
    check_extension_is_killed
    remove_stack "$extension_project"
}

extension_container() { compose_extension ps --quiet watermark; }

# marked [OPTION…]: prints the digest of a small image of the origin, or the error.
marked() {
    compose_extension run --rm -T client get http://127.0.0.1:8000/large/extension.jpg \
        --endpoint /run/imagebus/front/front.sock --resize 200x200 --format png -o - "$@" \
        2>"$work/marked.log" | sha256sum | cut -c -16
    return "${PIPESTATUS[0]}"
}

is_marked() { marked --custom examples.watermark:text=abc >/dev/null; }

check_extension_does_its_step() {
    local with without found status=0
    wait_until "$healthy_seconds" is_marked || status=1
    with=$(marked --custom examples.watermark:text=abc) || status=1
    without=$(marked) || status=1
    [[ $with != "$without" ]] || status=1
    verdict "$status" "extension: its step is done beside ours" "$with, without it $without"
    [[ $status -eq 0 ]] || cat "$work/marked.log" >&2
    found=$(marked --custom nobody.step) && status=1 || status=0
    found=$(grep --max-count=1 nobody.step "$work/marked.log") || status=1
    verdict "$status" "extension: a step that nobody does is refused by name" "${found:0:80}"
}

# What it could write or reach if it were compromised.
check_extension_borders() {
    local script found
    script='import os, socket
names = [name for name in ("/", "/srv/imagebus", "/run/imagebus/arena/transform",
                           "/run/imagebus/back/watermark") if os.access(name, os.W_OK)]
print(len(names), len(socket.if_nameindex()), os.path.exists("/run/imagebus/front"))'
    found=$(docker exec "$(extension_container)" /srv/imagebus/.venv/bin/python -c "$script")
    verdict "$([[ $found == "0 1 False" ]]; echo $?)" \
        "extension: it writes in its arena, and has no network but its own" "$found"
}

# Its requests must only be delayed.
check_extension_is_killed() {
    local before status=0
    before=$(docker inspect --format '{{.RestartCount}}' "$(extension_container)")
    kill_container "$(extension_container)"
    marked --custom examples.watermark:text=after >/dev/null || status=1
    wait_until "$healthy_seconds" extension_was_restarted "$before" || status=1
    verdict "$status" "extension: killed, it is started again, and its requests wait" \
        "$(docker inspect --format '{{.RestartCount}}' "$(extension_container)") restarts"
    [[ $status -eq 0 ]] || cat "$work/marked.log" >&2
}

extension_was_restarted() {
    [[ $(docker inspect --format '{{.RestartCount}}' "$(extension_container)") -gt $1 ]]
}
