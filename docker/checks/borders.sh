# shellcheck shell=bash
# What each service has, seen from inside: no network, no privileges, and the directories of the
# table in docker/README.md alone.

check_borders() {
    local service
    for service in "${services[@]}"; do
        check_network "$service"
        check_privileges "$service"
        check_mounts "$service"
    done
}

inside() {
    local service=$1
    shift
    docker exec "$(container "$service")" "$@"
}

# Interfaces besides loopback; download shares the origin's in this stack, which has none either.
check_network() {
    local mode interfaces
    mode=$(docker inspect --format '{{.HostConfig.NetworkMode}}' "$(container "$1")")
    interfaces=$(inside "$1" awk -F: 'NR > 2 { gsub(/ /, "", $1); print $1 }' /proc/net/dev |
        paste -sd' ')
    if [[ $1 == download ]]; then
        verdict "$([[ $mode == container:* && $interfaces == lo ]]; echo $?)" \
            "download lives in the network of the test's origin" "$mode: $interfaces"
        return
    fi
    verdict "$([[ $mode == none && $interfaces == lo ]]; echo $?)" \
        "$1 has no network" "$mode: $interfaces"
}

# Every process of the container: a user of its own, no capability in any set, none to be had.
check_privileges() {
    local found uids
    # shellcheck disable=SC2016
    found=$(inside "$1" sh -c 'cat /proc/[0-9]*/status' 2>/dev/null | awk '
        $1 == "Uid:" && ($2 == 0 || $3 == 0 || $4 == 0) { print "root" }
        /^Cap(Inh|Prm|Eff|Bnd|Amb):/ && $2 !~ /^0+$/ { print $1 $2 }
        $1 == "NoNewPrivs:" && $2 != 1 { print "privileges" }
    ' | sort | uniq -c | paste -sd' ')
    uids=$(inside "$1" sh -c 'cat /proc/[0-9]*/status' | awk '$1 == "Uid:" { print $2 }' |
        sort -u | paste -sd' ')
    verdict "$([[ -z $found && -n $uids ]]; echo $?)" \
        "$1 has no privilege and can get none" "user $uids ${found:-, all sets empty}"
}

# expected_mounts SERVICE: `path rw` and `path ro`, as the table says.
expected_mounts() {
    awk -F'|' -v service="$1" '
        function has(list) { return (" " list " ") ~ ("[ ,]" service "[ ,]") }
        /^\| `/ && NF == 8 {
            gsub(/[` ]/, "", $3)
            if (has($5)) print $3, "rw"
            else if (has($6)) print $3, "ro"
        }
    ' docker/README.md
}

# What the kernel gives to every container is left out: /proc, /sys, /dev, three files in /etc.
check_mounts() {
    local seen declared expected root
    inside "$1" cat /proc/1/mounts >"$work/mounts"
    root=$(awk '$2 == "/" { print substr($4, 1, 2) }' "$work/mounts")
    verdict "$([[ $root == ro ]]; echo $?)" "$1 has a read-only root" "$root"
    seen=$(awk '$2 != "/" && $2 !~ /^\/(proc|sys|dev)(\/|$)/ \
        && $2 !~ /^\/etc\/(resolv\.conf|hostname|hosts)$/ { print $2, substr($4, 1, 2) }' \
        "$work/mounts" | sort)
    declared=$(docker inspect --format \
        '{{range .Mounts}}{{.Destination}} {{if .RW}}rw{{else}}ro{{end}}{{println}}{{end}}' \
        "$(container "$1")" | sed '/^$/d' | sort)
    expected=$(expected_mounts "$1" | sort)
    verdict "$([[ -n $expected && $declared == "$expected" &&
        $seen == "$(printf '%s\n' "$expected" '/run/imagebus rw' | sort)" ]]; echo $?)" \
        "$1 has the mounts of the table and no others" "$(wc -l <<<"$expected") mounts"
    diff <(echo "$expected") <(echo "$declared") >&2 || true
}
