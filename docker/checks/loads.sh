# shellcheck shell=bash
# Loads through the client library, and the requests that the origin received for them
# (Tests/StackTools).

# begin_load NAME [OPTION…]: keeps 64 loads of new and known URLs in flight until end_load.
begin_load() {
    local name=$1
    shift
    quietly compose run --detach --name "$project-load-$name" load \
        --in-flight 64 --seconds 600 "$@"
    # Waits for the first replies, so that everything after this happens under load.
    wait_until 30 has_reply "$name"
}

has_reply() { [[ $(docker logs "$project-load-$1" 2>/dev/null | grep -c '^done ') -gt 0 ]]; }

# end_load NAME: waits for the pending loads and saves the output in $work/NAME.load.
end_load() {
    local name=$1
    docker kill --signal TERM "$project-load-$name" >/dev/null
    timeout 90 docker wait "$project-load-$name" >/dev/null
    docker logs "$project-load-$name" >"$work/$name.load" 2>&1
    docker rm --force "$project-load-$name" >/dev/null
}

# Prints the JSON object at the end of a load's output.
load_summary() { tail -n 1 "$work/$1.load"; }

# number FIELD JSON
number() { sed -nE "s/.*\"$1\": ([0-9.]+).*/\1/p" <<<"$2"; }

# verdict_of_load NAME WHAT: passes if nothing failed and everything new was stored.
verdict_of_load() {
    local summary status=0
    summary=$(load_summary "$1")
    requests=$((requests + $(number requests "$summary")))
    failures=$((failures + $(grep -c '^failed ' "$work/$1.load" || true)))
    [[ $summary == *'"failures": {}'* && $(number unstored "$summary") == 0 ]] || status=1
    verdict "$status" "$2" "$summary"
    [[ $status -eq 0 ]] || grep '^failed ' "$work/$1.load" | head -n 20 >&2 || true
}

origin_lines() { docker logs "$(container origin)" 2>/dev/null | grep '^GET '; }

# verdict_of_origin NAME WHAT: passes if no URL was requested again after its reply under
# waitStoreCache. Origin and load read the same clock.
verdict_of_origin() {
    local again known
    origin_lines >"$work/gets"
    known=$(grep -c '^done ' "$work/$1.load")
    again=$(awk -v origin=http://127.0.0.1:8000 '
        NR == FNR { if ($1 == "done") reply[$2] = $3; next }
        (origin $2) in reply && $3 > reply[origin $2] { print }
    ' "$work/$1.load" "$work/gets" | tee "$work/again" | wc -l)
    verdict $((again > 0)) "$2" "$again of $known URLs"
    head -n 5 "$work/again" >&2
}

# gets_by_url PREFIX: prints the number of requests for each URL below it.
gets_by_url() {
    origin_lines | awk -v prefix="$1" 'index($2, prefix) == 1 { n[$2]++ }
        END { for (url in n) print n[url], url }'
}
