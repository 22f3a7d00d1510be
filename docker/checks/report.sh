# shellcheck shell=bash
# The results: one row for each guarantee.

rows=() failed=()
# Totals of all loads, and how often a container ended under load.
requests=0 failures=0 restarts=0

say() { echo "docker/test: $*" >&2; }

# verdict STATUS WHAT FOUND: a STATUS of 0 is a pass.
verdict() {
    local word=passed
    if [[ $1 -ne 0 ]]; then
        word=FAILED
        failed+=("$2")
    fi
    rows+=("$word"$'\t'"$2"$'\t'"$3")
    say "  $word: $2: $3"
}

print_report() {
    local row word what found
    printf '\n%-8s %-58s %s\n' verdict promise found
    for row in "${rows[@]}"; do
        IFS=$'\t' read -r word what found <<<"$row"
        printf '%-8s %-58s %s\n' "$word" "$what" "$found"
    done
    printf '\n%d requests, %d failures, %d restarts\n' "$requests" "$failures" "$restarts"
}
