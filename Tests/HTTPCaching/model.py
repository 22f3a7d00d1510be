"""A model of the uses of a response that RFC 9111 and RFC 5861 permit to a cache, written
independently of the gateway. Reads lines of JSON, each with an origin's response and the gateway's,
and prints those for which a cache behind the gateway may do more than a cache at the origin."""

import json
import sys
from email.utils import parsedate_to_datetime

MOMENTS = [0, 1, 2, 5, 9, 10, 11, 30, 59, 60, 61, 299, 300, 3600, 86_400, 604_800, 31_536_000]


def directives(field):
    """Names in lower case with their values; quotes are parsed (RFC 9111 §5.2)."""
    found, word, quoted = [], "", False
    for character in (field or "") + ",":
        if character == '"':
            quoted = not quoted
        if character == "," and not quoted:
            name, _, value = word.strip().partition("=")
            if name:
                found.append((name.lower(), value.strip('"')))
            word = ""
        else:
            word += character
    return found


def seconds(text):
    """Parses delta-seconds (RFC 9111 §1.2.2); anything but a number counts as stale."""
    return min(int(text), 2**31) if text.isdigit() else 0


def moment(text):
    try:
        return parsedate_to_datetime(text).timestamp()
    except (TypeError, ValueError):
        return None


class Response:
    """A response with its age at `now`."""

    def __init__(self, control, age, expires_in, vary=""):
        said = directives(control)
        self.names = {name for name, _ in said}
        self.values = {}
        for name, value in said:
            number = seconds(value)
            # Two different ones are invalid, and count as stale (section 4.2.1).
            if self.values.setdefault(name, number) != number:
                self.values[name] = 0
        self.age, self.expires_in, self.vary = age, expires_in, vary

    def has(self, name):
        return name in self.names

    def lifetime(self, shared):
        if shared and self.has("s-maxage"):
            return self.values["s-maxage"]
        if self.has("max-age"):
            return self.values["max-age"]
        return self.expires_in

    def leaves_open(self):
        """Whether a cache may assume a lifetime (section 4.2.2)."""
        return not (self.names & {"max-age", "s-maxage", "no-cache", "no-store"}) and (
            self.expires_in is None
        )

    def may_store(self, shared):
        if self.has("no-store") or self.vary == "*":
            return False
        return not (shared and self.has("private"))

    def may_use(self, shared, later, grace=None):
        """Whether it may be used `later` seconds from now without asking the origin: fresh, or
        stale within the seconds of the directive `grace`."""
        if not self.may_store(shared) or self.has("no-cache"):
            return False
        lifetime = self.lifetime(shared) or 0
        age = self.age + later
        if age < lifetime:
            return True
        if grace is None or self.has("must-revalidate"):
            return False
        if shared and (self.has("proxy-revalidate") or self.has("s-maxage")):
            return False
        return age < lifetime + self.values.get(grace, 0)


def complaints(line):
    origin = line["origin"]
    date = moment(origin.get("date")) if origin.get("date") else None
    apparent = max(0, line["answered"] - date) if date is not None else 0
    said = origin.get("age", "")
    corrected = seconds(said) if said.isdigit() else 0
    expires_in = None
    if "expires" in origin:
        end = moment(origin["expires"])
        begin = date if date is not None else line["answered"]
        expires_in = 0 if end is None else min(max(0, end - begin), 2**31)
    age = max(apparent, corrected) + line["elapsed"]
    before = Response(origin.get("cache-control"), age, expires_in, origin.get("vary", ""))
    after = Response(line["answer"], 0, None, line["vary"])
    for shared in (True, False):
        cache = "a shared cache" if shared else "a browser"
        if after.may_store(shared) and not before.may_store(shared):
            yield f"{cache} may store it"
        if before.leaves_open():
            continue
        for grace in (None, "stale-while-revalidate", "stale-if-error"):
            for later in MOMENTS:
                if after.may_use(shared, later, grace) and not before.may_use(shared, later, grace):
                    yield f"{cache} may use it after {later} s ({grace or 'fresh'})"
    for name in ("must-revalidate", "proxy-revalidate", "no-transform", "private"):
        if before.has(name) and not (after.has(name) or after.has("no-store")):
            yield f"{name} is lost"
    for name in ("public", "immutable"):
        if after.has(name) and not before.has(name):
            if not (name == "public" and before.leaves_open()):
                yield f"{name} is added"


count = 0
for text in sys.stdin:
    count += 1
    for complaint in complaints(json.loads(text)):
        print(f"{complaint}: {text.strip()}")
print(f"{count} answers", file=sys.stderr)
