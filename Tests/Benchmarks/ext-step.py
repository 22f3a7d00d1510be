"""A step that returns its pixels as they are: what is left is what a step of another program costs.

Started by `serve`, as the command of a foreign pool.
"""

from imagebus_worker import Transformer, run


class Unchanged(Transformer):
    steps = ("bench.unchanged",)

    def transform(self, step, parameters, pixels, report):
        return pixels.data


run(Unchanged())
