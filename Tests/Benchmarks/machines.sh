# Three machines behind proxies, with and without a shared cache. Sourced by scripts/bench.
#
# Uses the programs of $IMAGEBUS_PROGRAMS if set, otherwise those of scripts/build. If
# $IMAGEBUS_BEFORE is set, the programs of another build in that directory are the reference,
# measured alternately.

measure_machines() {
    local round side folder
    prepare_extensions || {
        keep machines.ours '!no Python for the programs of the examples'
        return 0
    }
    vips thumbnail "$photo" "$work/site/machines.jpg[Q=90]" 800 --height 600 --size force >&2
    for ((round = 0; round < machine_rounds; round++)); do
        for side in ours before; do
            folder=${program%/*}
            [[ $side == ours ]] || folder=${IMAGEBUS_BEFORE:-}
            [[ -n $folder ]] || continue
            IMAGEBUS_PROGRAMS=$folder PYTHONPATH=Tests/Fleet:$examples sample "machines.$side" \
                900 "$python" "$here/machines.py" "$work/site/machines.jpg" \
                ${quick:+--quick} || true
        done
    done
}
