"""Code in documents: fenced and indented blocks."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]


def code(document: str, language: str) -> str:
    """The only block in that language."""
    text = (REPOSITORY / document).read_text()
    found = re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    if len(found) != 1:
        raise AssertionError(f"{document} has {len(found)} blocks of {language}")
    return found[0]


def program(document: str, language: str) -> str:
    """All blocks in that language, concatenated."""
    text = (REPOSITORY / document).read_text()
    found = re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return "\n".join(found)


def commands(document: str, heading: str) -> list[str]:
    """The commands of the first indented block below a heading, one by one, without comments."""
    text = (REPOSITORY / document).read_text()
    below = re.split(rf"^#+ {heading}$", text, flags=re.MULTILINE)[1]
    block = re.search(r"(?:^    .+\n)+", below, re.MULTILINE)
    lines = textwrap.dedent(block[0]).replace("\\\n", " ").splitlines()
    bare = [re.sub(r"\s+#.*", "", line) for line in lines]
    return [command.strip() for line in bare for command in line.split(";")]


def replaced(text: str, **changes: str) -> str:
    """The text for another stack and origin. Each replaced text must occur exactly once."""
    places = {"url": "https://www.swift.org/apple-touch-icon.png", "runtime": "/run/imagebus"}
    for name, value in changes.items():
        count = text.count(places[name])
        if count != 1:
            raise AssertionError(f"{places[name]} stands {count} times in:\n{text}")
        text = text.replace(places[name], value)
    return text
