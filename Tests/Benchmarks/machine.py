"""Describes the machine and the versions used, which the results depend on."""

import os
import platform
import re
import shutil
import subprocess


def said(*command, pattern=r"(\S.*)"):
    """Returns the match in a program's stdout and stderr, or "none" if the program is missing."""
    try:
        text = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, timeout=20, check=False,
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return "none"
    found = re.search(pattern, text)
    return found[1].strip() if found else "none"


def library(name):
    return said("pkg-config", "--modversion", name)


def commit():
    name = said("git", "rev-parse", "--short", "HEAD")
    changed = said("git", "status", "--porcelain", "--untracked-files=no")
    return name if changed == "none" else name + " with changes"


def machine():
    cpu = said("cat", "/proc/cpuinfo", pattern=r"model name\s*:\s*(.*)")
    memory = int(said("cat", "/proc/meminfo", pattern=r"MemTotal:\s*(\d+)")) / 1e6
    return {
        "cpu": cpu,
        "cores": os.cpu_count(),
        "memory": f"{memory:.0f} GB",
        "kernel": platform.release(),
        "load average": " ".join(f"{one:.1f}" for one in os.getloadavg()),
    }


def versions(kept):
    number = r"(\d+(?:\.\d+)+)"
    valkey = shutil.which("valkey-server") or "redis-server"
    return {
        "imagebus": commit(),
        "libvips": library("vips"),
        "libzmq": library("libzmq"),
        "libjpeg-turbo": library("libjpeg"),
        "zimg": library("zimg"),
        "libwebp": library("libwebp"),
        "libdeflate": library("libdeflate"),
        "nginx": said("nginx", "-v", pattern=number),
        "wrk": said("wrk", "-v", pattern=number),
        os.path.basename(valkey): said(valkey, "--version", pattern="v=(\\S+)"),
        "thumbor": said(f"{kept}/thumbor/bin/thumbor", "--version", pattern=number),
        "Pillow": said(
            f"{kept}/thumbor/bin/python", "-c", "import PIL; print(PIL.__version__)",
            pattern=number),
    }
