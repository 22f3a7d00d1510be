# shellcheck shell=bash
# Containers that are killed or replaced. Clients must only notice a delay.

restarts_of() { docker inspect --format '{{.RestartCount}}' "$1"; }

has_restarted() { [[ $(restarts_of "$1") -gt $2 ]]; }

# death SERVICE: it's killed and must be restarted by the engine's restart policy.
death() {
    local id before
    id=$(container "$1")
    before=$(restarts_of "$id")
    kill_container "$id"
    wait_until 20 has_restarted "$id" "$before"
    restarts=$((restarts + 1))
    wait_healthy "$1"
}

check_kills() {
    local service
    begin_load kills --url-prefix http://127.0.0.1:8000/small/kills-
    for service in decode transform cache download; do
        death "$service"
    done
    end_load kills
    verdict_of_load kills "decode, transform, cache, download killed: no failed request"
    verdict_of_origin kills "killed: no URL is fetched after its reply"
}

# Replaces every service with a new container, one after the other.
check_restarts() {
    local service start
    begin_load restarts --url-prefix http://127.0.0.1:8000/small/restarts-
    for service in download cache decode transform coordinator; do
        start=$SECONDS
        quietly compose up --detach --no-build --no-deps --force-recreate "$service"
        wait_healthy "$service"
        restarts=$((restarts + 1))
        say "  $service is another one and healthy after $((SECONDS - start)) s"
    done
    sleep 2
    end_load restarts
    verdict_of_load restarts "rolling restart of every service: no failed request"
    verdict_of_origin restarts "rolling restart: no URL is fetched after its reply"
}
