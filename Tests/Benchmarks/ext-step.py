"""A step that returns its pixels unchanged, so that only the overhead of an external step is left.

Started by `serve` as the command of an external pool.
"""

from imagebus_worker import Transformer, run


class Unchanged(Transformer):
    steps = ("bench.unchanged",)

    def transform(self, step, parameters, pixels, report):
        return pixels.data


run(Unchanged())
