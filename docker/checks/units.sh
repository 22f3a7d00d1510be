# shellcheck shell=bash
# The package of scripts/deb and its units with systemd as the first process: a container as a
# machine, with the programs of `scripts/build` (or IMAGEBUS_PROGRAMS).

machine=imagebus-units-$$
units_seconds=30
admin_socket=/run/imagebus/admin/admin.sock

on_machine() { docker exec --interactive "$machine" "$@"; }

# as_user USER COMMAND…: runs a command with the user's groups on the machine.
as_user() {
    local user=$1
    shift
    on_machine setpriv --reuid "$user" --regid "$user" --init-groups -- "$@"
}

check_units() {
    begin_machine
    check_units_start
    check_units_of_clients
    check_units_key
    check_units_kills
    check_units_extension
    check_units_upgrade
    check_units_stop
    check_units_removal
    end_machine
}

build_systemd() {
    DOCKER_BUILDKIT=0 docker build --tag imagebus-systemd - <docker/units.Dockerfile
}

# systemd needs SYS_ADMIN to mount, and to give each service its own view of the file system.
begin_machine() {
    package=$(scripts/deb "$work")
    quietly build_systemd
    docker run --detach --name "$machine" --cap-add SYS_ADMIN --security-opt seccomp=unconfined \
        --security-opt apparmor=unconfined --cgroupns private --network none \
        --tmpfs /run --tmpfs /tmp imagebus-systemd >/dev/null
    wait_until "$units_seconds" has_booted
    docker cp "$package" "$machine:/srv/imagebus.deb" >/dev/null
    check_units_installation
    on_machine useradd --groups imagebus-clients member
    on_machine useradd outsider
}

# Installs it with only the packages that it depends on.
check_units_installation() {
    local found status=0
    found=$(on_machine dpkg --install /srv/imagebus.deb 2>&1) || status=1
    found=$(tail --lines=1 <<<"$found")
    [[ $found == *"systemctl enable --now imagebus.target" ]] || status=1
    [[ $(units_of_imagebus | wc -l) -eq 0 ]] || status=1
    verdict "$status" "package: it installs, starts nothing, says what to type" "$found"
}

end_machine() { docker rm --force "$machine" >/dev/null 2>&1 || true; }

has_booted() {
    [[ $(on_machine systemctl is-system-running --wait 2>/dev/null) =~ ^(running|degraded)$ ]]
}

units_of_imagebus() {
    on_machine systemctl list-units 'imagebus-*.service' --all --plain --no-legend
}

units_are_healthy() {
    as_user imagebus-coordinator imagebus health --endpoint "$admin_socket" 2>/dev/null
}

what_units_said() { on_machine journalctl --no-pager --lines=40 --unit='imagebus*' >&2 || true; }

check_units_start() {
    local status=0 found
    on_machine systemctl enable --now --quiet imagebus.target
    wait_until "$units_seconds" units_are_healthy || status=1
    found="$(units_of_imagebus | grep -c ' active  *running ' || true) of 5 services run"
    [[ $found == 5* ]] || status=1
    verdict "$status" "units: all services start and are healthy" "$found"
    [[ $status -eq 0 ]] || what_units_said
    found=$(as_user imagebus-coordinator imagebus status --json \
        --endpoint "$admin_socket" | grep -o "$(units_layers_pattern)" | wc -l)
    verdict "$((found != 2))" "units: decode and transform report all layers" "$found of 2"
}

# As they appear in the output of `imagebus status --json`.
units_layers_pattern() { printf '"sandbox":\["%s"\]' "${layers//,/\",\"}"; }

# A PNG of one pixel.
pixel() {
    base64 --decode <<'PNG'
iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAA
AABJRU5ErkJggg==
PNG
}

get_on_machine() {
    pixel | as_user "$1" imagebus get - --endpoint /run/imagebus/front/front.sock \
        --resize 7x7 --mode stretch -o - 2>&1
}

check_units_of_clients() {
    local found status
    found=$(get_on_machine member | head --bytes 4 | tail --bytes 3)
    verdict "$([[ $found == PNG ]]; echo $?)" "units: a member of imagebus-clients gets images" \
        "$found"
    status=0
    found=$(get_on_machine outsider) || status=$?
    verdict "$([[ $status -eq 69 ]]; echo $?)" "units: other users get none" "$found"
}

# An invalid setting is reported once; the service isn't restarted.
check_units_key() {
    local key=/var/lib/imagebus-coordinator/identity.key found
    on_machine sh -c "mv $key $key.kept && printf short >$key && chown 4100:4100 $key"
    on_machine systemctl restart imagebus-coordinator.service 2>/dev/null || true
    wait_until "$units_seconds" coordinator_has_failed || true
    found=$(on_machine systemctl show --property ExecMainStatus --property NRestarts --value \
        imagebus-coordinator.service | sort -n | paste -sd' ')
    verdict "$([[ $found == "0 78" ]]; echo $?)" "units: a broken key ends the coordinator, once" \
        "restarts, status: $found"
    on_machine mv "$key.kept" "$key"
    on_machine systemctl restart imagebus-coordinator.service
    wait_until "$units_seconds" units_are_healthy || what_units_said
}

# By default, systemd gives up on a service that ends five times within ten seconds.
check_units_kills() {
    local unit=imagebus-transform@1.service number status=0 found
    for number in 1 2 3 4 5 6; do
        wait_until "$units_seconds" unit_runs "$unit" || status=1
        on_machine systemctl kill --kill-who=main --signal=KILL "$unit" || status=1
        wait_until "$units_seconds" unit_has_restarts "$unit" "$number" || status=1
    done
    wait_until "$units_seconds" units_are_healthy || status=1
    found="$(unit_restarts "$unit") restarts after 6 kills"
    verdict "$status" "units: a service that ends again and again is started again" "$found"
    [[ $status -eq 0 ]] || what_units_said
}

unit_runs() { [[ $(on_machine systemctl is-active "$1") == active ]]; }

unit_restarts() { on_machine systemctl show --property NRestarts --value "$1"; }

unit_has_restarts() { [[ $(unit_restarts "$1") -ge $2 ]]; }

coordinator_has_failed() { on_machine systemctl is-failed --quiet imagebus-coordinator.service; }

# A third-party program is one more service. Its files are those of the image that docker/test
# extension runs.
check_units_extension() {
    local found status=0 image
    image=$(docker create imagebus-watermark)
    docker cp "$image:/srv/imagebus" - | docker cp - "$machine:/srv"
    docker rm "$image" >/dev/null
    docker cp systemd/extension "$machine:/srv/extension" >/dev/null
    on_machine /srv/extension/install || status=1
    wait_until "$units_seconds" units_are_healthy || status=1
    wait_until "$units_seconds" is_marked_on_machine || status=1
    found=$(on_machine systemctl is-active imagebus-watermark.service || true)
    verdict "$status" "units: a step of an external service is done" "$found"
    [[ $status -eq 0 ]] || { cat "$work/marked.log" >&2 && what_units_said; }
    status=0
    on_machine /srv/extension/install --remove || status=1
    wait_until "$units_seconds" units_are_healthy || status=1
    ! is_marked_on_machine || status=1
    verdict "$status" "units: without it the step is refused, and the stack goes on" \
        "$(units_of_imagebus | grep -c ' active  *running ' || true) services run"
    [[ $status -eq 0 ]] || what_units_said
}

is_marked_on_machine() {
    pixel | as_user member imagebus get - --endpoint /run/imagebus/front/front.sock \
        --resize 20x20 --mode stretch --custom examples.watermark:text=a --format png -o - \
        >/dev/null 2>"$work/marked.log"
}

# Running services continue as the new programs.
check_units_upgrade() {
    local before after found status=0
    before=$(main_processes)
    found=$(on_machine dpkg --install /srv/imagebus.deb 2>&1) || status=1
    wait_until "$units_seconds" units_are_healthy || status=1
    after=$(main_processes)
    [[ $(wc -l <<<"$after") -eq 5 ]] || status=1
    [[ $(comm -12 <(sort <<<"$before") <(sort <<<"$after") | wc -l) -eq 0 ]] || status=1
    found="$(wc -l <<<"$after") services, all of them new processes"
    verdict "$status" "package: an upgrade starts the services again" "$found"
    [[ $status -eq 0 ]] || what_units_said
}

main_processes() {
    on_machine systemctl show --property MainPID --value \
        imagebus-{coordinator,cache}.service imagebus-{download,decode,transform}@1.service |
        sed '/^$/d'
}

# Settings stay until the package is purged.
check_units_removal() {
    local found status=0
    on_machine systemctl start imagebus.target
    wait_until "$units_seconds" units_are_healthy || status=1
    on_machine dpkg --remove imagebus >/dev/null 2>&1 || status=1
    found=$(left_on_machine)
    [[ $found == "/etc/imagebus /etc/imagebus/environment "* ]] || status=1
    [[ $(units_of_imagebus | wc -l) -eq 0 ]] || status=1
    [[ -z $(on_machine sh -c 'cat /proc/[0-9]*/comm' 2>/dev/null | grep '^imagebus') ]] || status=1
    on_machine dpkg --purge imagebus >/dev/null 2>&1 || status=1
    found=$(left_on_machine)
    [[ -z $found ]] || status=1
    verdict "$status" "package: a removal ends and removes all, a purge also settings and cache" \
        "left: ${found:-nothing}"
}

# Files and directories with its name, except those of the kernel.
left_on_machine() {
    on_machine find / -xdev -name '*imagebus*' -not -path '/srv/*' -not -path '/proc/*' \
        -not -path '/tmp/*' -not -path '/var/tmp/*' -not -path '/var/log/*' \
        -o -path '/etc/imagebus/*' | sort | tr '\n' ' '
}

check_units_stop() {
    local found
    on_machine systemctl stop imagebus.target 'imagebus-*.service'
    found="$(units_of_imagebus | grep -cv ' inactive ' || true) left or failed"
    verdict "$([[ $found == 0* ]]; echo $?)" "units: all of them stop in order" "$found"
    [[ $found == 0* ]] || what_units_said
}
