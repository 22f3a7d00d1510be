# shellcheck shell=bash
# Checks each service from inside: it has no network, no privileges, and only the directories of the
# table in docker/README.md.

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

# Interfaces other than loopback. In this stack download shares the origin's, which has none either.
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

# Checks every process of the container: its own user, no capability in any set, and no way to gain
# one. A process that the engine is about to turn into a health check is excluded: it has no parent
# in the container.
check_privileges() {
    local found user
    # shellcheck disable=SC2016
    inside "$1" sh -c 'cat /proc/[0-9]*/status' >"$work/status" 2>/dev/null || true
    found=$(awk '
        function judge() { if (text != "" && !(name ~ /^runc/ && parent == 0)) print text }
        $1 == "Name:" { judge(); name = $2; text = "" }
        $1 == "PPid:" { parent = $2 }
        $1 == "Uid:" { text = "user " $2 " " $3 " " $4 " " $5 }
        /^Cap(Inh|Prm|Eff|Bnd|Amb):/ && $2 !~ /^0+$/ { text = text ", " $1 $2 }
        $1 == "NoNewPrivs:" && $2 != 1 { text = text ", may gain privileges" }
        END { judge() }
    ' "$work/status" | sort -u | paste -sd';')
    user=$(docker inspect --format '{{.Config.User}}' "$(container "$1")")
    user=${user%:*}
    verdict "$([[ $user -ne 0 && $found == "user $user $user $user $user" ]]; echo $?)" \
        "$1 has a user of its own and no privilege" "$found"
}

# expected_mounts SERVICE: prints `path rw` and `path ro` according to the table.
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

# Mounts that the kernel provides to every container are excluded: /proc, /sys, /dev, three files in
# /etc.
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
