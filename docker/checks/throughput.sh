# shellcheck shell=bash
# Twice the containers do twice the work: pictures of 2725×2225 from their origin to PNG of 512,
# with nothing stored, in workers that are held to a quarter of a core each.

least_ratio=1.8
quarter=0.25
bench_seconds=6
tries=5

# rate N: pictures a second with N containers of each.
rate() {
    local id ids said
    scale decode="$1" transform="$1"
    mapfile -t ids < <(containers decode; containers transform)
    for id in "${ids[@]}"; do
        docker update --cpus "$quarter" "$id" >/dev/null
    done
    said=$(compose run --rm -T bench bench cold 'http://127.0.0.1:8000/large/{n}.jpg' \
        --resize 512x512 --format png --concurrency 8 --seconds "$bench_seconds" --json \
        2>"$work/bench.log") || { cat "$work/bench.log" >&2; return 1; }
    sed -nE 's/.*"rps":([0-9]+\.?[0-9]?).*/\1/p' <<<"$said"
}

ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", b / a }'; }

is_enough() { awk -v r="$1" -v least="$least_ratio" 'BEGIN { exit !(r >= least) }'; }

# doubling FROM TO: the best of a few pairs, since the machine has other work too.
doubling() {
    local few many found best=0 rates="" try
    for ((try = 0; try < tries; try++)); do
        few=$(rate "$1")
        many=$(rate "$2")
        found=$(ratio "$few" "$many")
        say "  $1: $few /s, $2: $many /s, $found ×"
        if awk -v a="$found" -v b="$best" 'BEGIN { exit !(a > b) }'; then
            best=$found
            rates="$few → $many /s"
        fi
        ! is_enough "$best" || break
    done
    verdict "$(is_enough "$best"; echo $?)" \
        "$1 to $2 decode and transform: at least $least_ratio ×" "$best × ($rates)"
}

check_throughput() {
    begin_stack_without_probes
    doubling 1 2
    doubling 2 4
}
