# Workers limited to a quarter of a core each: do twice as many workers do twice the work? Sourced
# by scripts/bench. Requires writable cgroups (version 2 or 1) with the cpu controller.

quarter_of_ms=100
quarter_ms=25

measure_scaling() {
    local count round
    if ! find_cgroups; then
        keep scaling.1 "!not possible here: no cgroup with the cpu controller may be written"
        return 0
    fi
    say "workers are held by $cgroups"
    for ((round = 0; round < rounds; round++)); do
        for count in 1 2 4; do
            measure_scaled "$count"
        done
    done
}

# Sets `cgroups` to the directory for new groups and `cgroup_limit` to the name of a group's limit
# file.
find_cgroups() {
    local root=/sys/fs/cgroup folder
    for folder in "$root" "$root/unified" "$root/cpu" "$root/cpu,cpuacct"; do
        cgroups=$folder/ib-bench.$$
        mkdir "$cgroups" 2>/dev/null || continue
        for cgroup_limit in cpu.max cpu.cfs_quota_us; do
            if [[ -w $cgroups/$cgroup_limit ]]; then
                rmdir "$cgroups"
                cgroups=$folder
                return 0
            fi
        done
        rmdir "$cgroups"
    done
    return 1
}

hold() {
    local group=$cgroups/ib-bench.$$.$1
    local quota=$((quarter_ms * 1000)) period=$((quarter_of_ms * 1000))
    mkdir "$group"
    held_groups+=("$group")
    if [[ $cgroup_limit == cpu.max ]]; then
        echo "$quota $period" >"$group/cpu.max"
    else
        echo "$period" >"$group/cpu.cfs_period_us"
        echo "$quota" >"$group/cpu.cfs_quota_us"
    fi
    echo "$1" >"$group/cgroup.procs"
}

# Runs this many limited decode and transform workers each; everything else is unlimited.
measure_scaled() {
    local count=$1 pid held_groups=()
    if ! start_stack --download 1 --decode "$count" --transform "$count"; then
        keep "scaling.$count" '!no stack starts'
        return 0
    fi
    for pid in $(pgrep --session "$server" --full 'imagebus-(decode|transform) '); do
        hold "$pid"
    done
    sample "scaling.$count" 120 "$program" bench cold "$photo_url/{n}.jpg" "${steps[@]}" \
        --format jpeg --concurrency $((4 * count)) --seconds $((2 * cold_seconds)) --json || true
    end_server "$server"
    rmdir "${held_groups[@]}" || say "left behind: ${held_groups[*]}"
}
