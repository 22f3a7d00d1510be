# External pools: their cost for loads that don't use them. Sourced by scripts/bench.

# Finds the Python of the examples, which is created once.
prepare_extensions() {
    [[ -z ${python:-} ]] || return 0
    if ! python=$(scripts/python-venv); then
        python=
        return 1
    fi
    examples=$PWD/Examples/Python
}

# Prints a configuration with one external pool of each kind, and caches, a loader and a profile
# that use them. Only loads that request them do.
foreign_configuration() {
    mkdir -p "$work/album"
    cat <<YAML
pools:
  team:
    kind: cache
    trust: external
    credit: 16
    command: ["$python", "$examples/dictionary_cache.py"]
  qoi:
    kind: decode
    trust: external
    formats-in: [qoi]
    command: ["$python", "$examples/qoi_coder.py"]
  photos:
    kind: download
    trust: external
    schemes: [photos]
    credit: 8
    command: ["$python", "$examples/photos_loader.py", --folder, "$work/album"]
  step:
    kind: transform
    trust: external
    steps: [bench.unchanged]
    command: ["$python", "$PWD/$here/ext-step.py"]
loaders:
  photos: { kind: pool, pool: photos, match: "photos://*" }
caches:
  local: {}
  team: { pool: team }
  tiers: { of: [team, local], store: serial }
profiles:
  shared: { cache: tiers, original-cache: tiers }
YAML
}

# Starts a stack with separate directories and a configuration, and waits for all of its processes.
start_extended() {
    local name=$1 stack_log=$work/$1.log stack_log_level=debug tenths=300
    local -x PYTHONPATH=${examples:-} IMAGEBUS_RUNTIME_DIR=$runtime/$1
    local -x IMAGEBUS_CACHE_DIR=$work/$1.cache
    mkdir "$IMAGEBUS_RUNTIME_DIR" "$IMAGEBUS_CACHE_DIR"
    start_stack --config "$work/$name.yaml" --memory-limit 1G || return 1
    until [[ $(processes_that started) -eq $(processes_that ready) ]]; do
        ((tenths-- > 0)) || return 1
        sleep 0.1
    done
}

# Counts the processes of a stack with that event in its log.
processes_that() {
    grep -cE " [0-9]+ $1\$" "$stack_log"
}

# Loads without external pools in a stack that has some, in one without, and in a second one
# without, which shows the difference between identical stacks. All of them run all the time.
measure_ext_cost() {
    local round name result=http://127.0.0.1:$origin_port/result.jpg stacks=()
    local sides=(with without again)
    prepare_extensions || {
        keep ext-cost.cold.with '!no Python for the programs of the examples'
        return 0
    }
    foreign_configuration >"$work/with.yaml"
    echo 'caches: { local: {} }' | tee "$work/without.yaml" >"$work/again.yaml"
    for name in "${sides[@]}"; do
        start_extended "$name" || {
            keep "ext-cost.cold.$name" '!no stack starts'
            return 0
        }
        stacks+=("$server")
    done
    for ((round = 0; round < cost_rounds; round++)); do
        for name in message voucher cold; do
            load_sides "$name" "${sides[@]}"
        done
        # Each is first as often as last.
        sides=("${sides[@]:1}" "${sides[0]}")
    done
    for server in "${stacks[@]}"; do
        end_server "$server"
    done
}

load_sides() {
    local load=$1 side
    shift
    for side in "$@"; do
        local -x IMAGEBUS_RUNTIME_DIR=$runtime/$side
        case $load in
        message) cost_of_hit message --hot 64 --concurrency 64 --by-message ;;
        voucher) cost_of_hit voucher --hot 64 --threads 1 ;;
        cold)
            sample "ext-cost.cold.$side" 60 "$program" bench cold "$photo_url/{n}.jpg" \
                "${steps[@]}" --format jpeg --concurrency "$cold_concurrency" \
                --seconds "$cost_seconds" --json || true
            ;;
        esac
    done
}

cost_of_hit() {
    local hit_seconds=$cost_seconds name=$1
    shift
    hit_of "ext-cost.$name.$side" "$@"
}
