# A machine with systemd for docker/checks/units.sh: the libraries of all programs, Python for a
# third-party program, but nothing of Imagebus, which its package installs.
FROM debian:bookworm-slim
RUN apt-get update -qq \
    && DEBIAN_FRONTEND=noninteractive apt-get install -qq --yes --no-install-recommends \
        systemd dbus python3 \
        libzmq5 libprotobuf-c1 libmicrohttpd12 libnettle8 libyaml-0-2 libjansson4 \
        libsodium23 libcurl4 libssl3 libsqlite3-0 libxxhash0 \
        libvips42 libjpeg62-turbo libpng16-16 libwebp7 libwebpmux3 libavif15 libzimg2 libdeflate0 \
        libseccomp2 librsvg2-2 libcairo2 libgdk-pixbuf-2.0-0 libfontconfig1 \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old
STOPSIGNAL SIGRTMIN+3
# systemd creates control groups. If they form a single hierarchy, the engine mounts it read-only.
CMD [ ! -e /sys/fs/cgroup/cgroup.controllers ] || mount -o remount,rw /sys/fs/cgroup; \
    exec /lib/systemd/systemd --show-status=no
