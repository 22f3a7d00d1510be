# shellcheck shell=bash
# What a decoder or transformer can still do after it has sandboxed itself: tried from inside a
# container with exactly the mounts, user and options of the service.

# With this kernel and the engine's own profile, all layers must be active.
layers=noNewPrivileges,rlimits,seccomp,landlock

check_sandbox() {
    local kind maker
    maker=$(docker create imagebus-stacktools true)
    docker cp "$maker:/usr/bin/sandbox-probe" "$work/sandbox-probe" >/dev/null
    docker rm "$maker" >/dev/null
    for kind in decode transform; do
        probe "$kind"
        check_reported_layers "$kind"
    done
}

probe() {
    local said=$work/probe.$1 status=0 found
    compose run --rm --no-deps -T --volume "$work/sandbox-probe:/sandbox-probe:ro" \
        --entrypoint /sandbox-probe "$1" --kind "$1" --runtime-dir /run/imagebus \
        >"$said" 2>"$said.log" || status=$?
    found="$(grep -cE ' (denied|absent)' "$said" || true) doors shut,"
    found+=" $(grep -c ' allowed$' "$said" || true) needed ones open"
    grep -q ' denied' "$said" || status=1
    verdict "$status" "$1: what a compromised worker tries is denied" "$found"
    [[ $status -eq 0 ]] || cat "$said" "$said.log" >&2
    found=$(sed -n 's/^layers //p' "$said")
    verdict "$([[ $found == "$layers" ]]; echo $?)" "$1: all layers of the sandbox" "$found"
}

# The same from the outside: the layers that the real worker announced.
check_reported_layers() {
    local found
    found=$(inside coordinator imagebus status --json | tr -d ' \n' |
        grep -oE "\{[^{}]*\"kind\":\"$1\"[^{}]*\}" | grep -oE '"sandbox":\[[^]]*\]' |
        tr -d '"[]' | sed 's/^sandbox://' | sort -u | paste -sd' ')
    verdict "$([[ $found == "$layers" ]]; echo $?)" "$1: workers report these layers" "$found"
}
