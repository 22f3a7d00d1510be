"""Generates imagebus_pb2 from the protocol's messages; everything else is in pyproject.toml."""

from __future__ import annotations

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

HERE = Path(__file__).resolve().parent
MESSAGES = "imagebus.proto"


def folder_of_messages() -> Path:
    """The repository's folder, or the copy in a source distribution."""
    places = [HERE, HERE.parents[1] / "Proto"]
    return next(place for place in places if (place / MESSAGES).is_file())


class BuildWithMessages(build_py):
    def run(self) -> None:
        super().run()
        from grpc_tools import protoc

        target = HERE if self.editable_mode else Path(self.build_lib)
        target.mkdir(parents=True, exist_ok=True)
        options = [f"-I{folder_of_messages()}", f"--python_out={target}", f"--pyi_out={target}"]
        if protoc.main(["protoc", *options, MESSAGES]) != 0:
            raise SystemExit(f"protoc makes no module of {MESSAGES}")


class SourcesWithMessages(sdist):
    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        super().make_release_tree(base_dir, files)
        shutil.copy(folder_of_messages() / MESSAGES, base_dir)


setup(cmdclass={"build_py": BuildWithMessages, "sdist": SourcesWithMessages})
