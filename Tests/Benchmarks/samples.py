"""The measurements of scripts/bench."""

import json
import statistics


class Samples:
    """All measurements by name. If a name has several, their median is used."""

    def __init__(self, path):
        self.all, self.failures = {}, {}
        for line in open(path):
            name, _, text = line.rstrip("\n").partition("\t")
            if text.startswith("!"):
                self.failures[name] = text[1:]
            else:
                self.all.setdefault(name, []).append(json.loads(text))
        for name, measured in self.all.items():
            wrong = sum(one.get("errors") or 0 for one in measured)
            if wrong:
                self.failures[name] = f"{wrong} loads went wrong"

    def values(self, name, *path):
        """Returns a field of each measurement by a path of names and indexes."""
        found = []
        for value in self.all.get(name, []):
            for step in path:
                try:
                    value = value[step]
                except (KeyError, IndexError, TypeError):
                    value = None
                    break
            if value is not None:
                found.append(value)
        return found

    def median(self, name, *path):
        found = self.values(name, *path)
        return statistics.median(found) if found else None

    def spread(self, name, *path):
        """Returns the smallest and largest values relative to the median, in percent."""
        found = self.values(name, *path)
        if len(found) < 2 or not statistics.median(found):
            return ""
        middle = statistics.median(found)
        return f"{min(found) / middle * 100 - 100:+.0f}/{max(found) / middle * 100 - 100:+.0f} %"
