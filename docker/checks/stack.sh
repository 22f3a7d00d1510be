# shellcheck shell=bash
# The stack under test: a separate project, removed at the end with all its volumes.

project=imagebus-test-$$
healthy_seconds=60
stack_is_up=

compose() {
    docker-compose --project-name "$project" --file docker/compose.yaml --file docker/test.yaml \
        --ansi never "$@" </dev/null
}

# Prints a command's output only if it failed.
quietly() {
    local log=$work/quietly.log
    if ! "$@" >"$log" 2>&1; then
        tail -n 40 "$log" >&2
        say "failed: $*"
        return 1
    fi
}

containers() { compose ps --quiet "$1"; }

container() { containers "$1" | head -n 1; }

is_healthy() {
    local ids
    ids=$(containers "$1")
    [[ -n $ids ]] || return 1
    # shellcheck disable=SC2086
    ! docker inspect --format '{{.State.Health.Status}}' $ids | grep -qv '^healthy$'
}

# wait_until SECONDS COMMAND…: polls, since the engine has no event that covers all conditions.
wait_until() {
    local end=$((SECONDS + $1))
    shift
    until "$@"; do
        if ((SECONDS >= end)); then
            say "waited in vain for: $*"
            return 1
        fi
        sleep 0.1
    done
}

# wait_healthy SERVICE…
wait_healthy() {
    local service
    for service in "$@"; do
        wait_until "$healthy_seconds" is_healthy "$service"
    done
}

check_compose_file() {
    docker-compose --file docker/compose.yaml config --quiet
    ! grep -q '^version:' docker/compose.yaml
}

begin_stack() {
    local start=$SECONDS
    stack_is_up=1
    quietly compose up --detach --no-build origin "${services[@]}"
    wait_healthy "${services[@]}"
    verdict 0 "all services come up healthy" "after $((SECONDS - start)) s"
}

# Removes what an interrupted run left behind, since its stack would affect every measurement. The
# project's name ends with the run's process ID.
remove_left_stacks() {
    local left
    for left in $(docker ps --all --format '{{.Label "com.docker.compose.project"}}' |
        grep -E '^imagebus-test(-extension)?-[0-9]*$' | sort -u); do
        kill -0 "${left##*-}" 2>/dev/null || remove_stack "$left" >"$work/left.log" 2>&1 || true
    done
}

# remove_stack PROJECT: removes its containers, including those of `compose run`, and its volumes.
remove_stack() {
    docker ps --all --quiet --filter "label=com.docker.compose.project=$1" |
        xargs --no-run-if-empty docker rm --force --volumes >/dev/null
    docker volume ls --quiet --filter "label=com.docker.compose.project=$1" |
        xargs --no-run-if-empty docker volume rm >/dev/null
    docker network ls --quiet --filter "label=com.docker.compose.project=$1" |
        xargs --no-run-if-empty docker network rm >/dev/null
}

# kill_container CONTAINER: sends SIGKILL to its first process from outside its namespace, as the
# kernel's OOM killer does. `docker kill` would make the engine not restart it.
kill_container() {
    local pid
    pid=$(docker inspect --format '{{.State.Pid}}' "$1")
    docker run --rm --network none --pid host --cap-drop ALL --cap-add KILL \
        --entrypoint /bin/sh --user 0:0 imagebus-client -c "kill -KILL $pid"
}

clean_up() {
    local status=$?
    # A second signal must not interrupt it.
    trap '' INT TERM
    if [[ $status -ne 0 && -n $stack_is_up ]]; then
        say "the last lines of each service:"
        compose logs --no-color --timestamps --tail 40 "${services[@]}" >&2 || true
    fi
    if [[ -n $stack_is_up ]]; then
        remove_stack "$project" || true
    fi
    remove_stack "$extension_project" || true
    end_machine
    rm -rf "$work"
    exit "$status"
}
