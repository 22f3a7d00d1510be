# shellcheck shell=bash
# More and fewer containers of a kind while the stack is working.

# scale SERVICE=N…: leaves all other services unchanged.
scale() {
    local options=() names=() pair
    for pair in "$@"; do
        options+=(--scale "$pair")
        names+=("${pair%=*}")
    done
    quietly compose up --detach --no-build --no-deps --no-recreate "${options[@]}" "${names[@]}"
    wait_healthy "${names[@]}"
    for pair in "$@"; do
        wait_until 20 has_workers "${pair%=*}" "${pair#*=}"
    done
}

# Whether the coordinator has this many workers of a kind.
has_workers() { [[ $(workers "$1") -eq $2 ]]; }

workers() {
    inside coordinator imagebus status --json |
        grep -o "\"kind\":\"$1\",\"pid\":" | wc -l
}

# Two download processes, two clients that request the same URLs: still one GET for each.
check_once() {
    local name most urls
    scale download=2
    for name in once-a once-b; do
        begin_load "$name" --url-prefix http://127.0.0.1:8000/small/once- --new-percent 60
    done
    sleep 5
    for name in once-a once-b; do
        end_load "$name"
        verdict_of_load "$name" "two download processes: no failure ($name)"
    done
    urls=$(gets_by_url /small/once- | wc -l)
    most=$(gets_by_url /small/once- | sort -rn | awk 'NR == 1 { print $1 }')
    verdict "$([[ $most -eq 1 && $urls -gt 10 ]]; echo $?)" \
        "two download processes, two clients: one GET a URL" "$urls URLs, at most $most GET"
    scale download=1
}

check_scale() {
    begin_load scale --in-flight 16 --url-prefix http://127.0.0.1:8000/small/scale-
    scale decode=4 transform=2 download=2
    verdict 0 "decode, transform, download to 4, 2, 2 under load" "all ready"
    scale decode=1 transform=1 download=1
    verdict 0 "and back to 1, 1, 1" "all ready"
    end_load scale
    verdict_of_load scale "scaling up and down: no failed request"
    verdict_of_origin scale "scaling: no URL is fetched after its reply"
}
