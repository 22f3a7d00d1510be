"""README's Swift code and the tutorial, built in a package outside the repository and run with a
real stack.
"""

from __future__ import annotations

import os

import outside
from documents import code, program, replaced
from example_stack import ExampleTests, png


# Types that users don't need by name: an errno that is printed, and
# requests as resolved by the coordinator.
OF_THE_STACK = {"Linux.Errno", "Model.Resolution"}


TUTORIAL = "Sources/Client/Imagebus/Imagebus.docc/Tutorial.md"
PIXELS = "Sources/Client/ImagebusTransforms/ImagebusTransforms.docc/ImagebusTransforms.md"
WORKER = "Sources/Kit/ImagebusWorker/ImagebusWorker.docc/ImagebusWorker.md"
FOUNDATION = "Sources/Client/ImagebusFoundation/ImagebusFoundation.docc/ImagebusFoundation.md"


class SwiftTests(ExampleTests):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.origin.pictures["/icon.png"] = png(180, 180, 1)
        cls.url = cls.origin.url("/icon.png")
        runtime = str(cls.stack.runtime_dir)
        for query in "", "?watched", "?unwanted":
            cls.origin.pictures[f"/tutorial.png{query}"] = png(180, 180, 3)
        tutorial_url = cls.origin.url("/tutorial.png")
        cls.origin.pictures["/foundation.png"] = cls.foundation = png(180, 180, 4)
        foundation_url = cls.origin.url("/foundation.png")
        outside.build(
            replaced(code("README.md", "swift"), url=cls.url, runtime=runtime),
            replaced(program(TUTORIAL, "swift"), url=tutorial_url, runtime=runtime),
            program(PIXELS, "swift"),
            replaced(program(FOUNDATION, "swift"), url=foundation_url, runtime=runtime),
            program(WORKER, "swift"),
        )

    def test_the_snippet_loads_its_image_once_and_from_memory_then(self) -> None:
        first = outside.run(outside.PRODUCTS / "snippet")
        self.assertRegex(first, r"^none [1-9]\d{3,}\n$")
        second = outside.run(outside.PRODUCTS / "strict-snippet")
        self.assertEqual(second, first.replace("none", "memory"))
        self.assertEqual(self.gets(self.url), 1)

    def test_the_tutorial_does_what_it_says(self) -> None:
        lines = outside.run(outside.PRODUCTS / "tutorial").splitlines()
        progress = [line for line in lines if line.startswith("progress ")]
        said = [line for line in lines if line not in progress]
        size = len(self.origin.pictures["/tutorial.png?watched"])
        for line in progress:
            received, expected = int(line.split()[1]), int(line.split()[3])
            self.assertTrue(received <= size and expected in (0, size), line)
        # It may have loaded before the cancel.
        self.assertIn(said.pop(3), ("unwanted: cancelled", "unwanted: loaded"))
        expected = [
            "original 180x180, png", "card 64x32, webp", "watched: loaded", "refused with 3005",
            "banner: a grey box", "banner: fades in", "prefetched 1 of 1, 0 failed",
            "card: is there", "1 images in this process",
        ]  # fmt: skip
        self.assertEqual(said, expected)

    def test_pixels_are_made_without_a_stack(self) -> None:
        said = outside.run(outside.PRODUCTS / "pixels")
        self.assertEqual(said, "60x40, FFFF0000, true\n")
        self.assertNotIn("zmq", outside.libraries("pixels"))

    def test_what_bench_hit_measures_is_the_public_library(self) -> None:
        self.origin.pictures["/hits.png"] = png(180, 180, 5)
        url = self.origin.url("/hits.png")
        said = outside.run(outside.PRODUCTS / "hits", str(self.stack.runtime_dir), url)
        self.assertEqual(said, "100 100\n")

    def test_foundation_comes_with_the_library_for_it_alone(self) -> None:
        said = outside.run(outside.PRODUCTS / "foundation")
        self.assertEqual(said, f"{len(self.foundation)} bytes, fresh: false, WEBP\n")
        needed = outside.libraries("foundation")
        self.assertEqual(needed, {"zmq", "protobuf-c", "FoundationEssentials"})

    def test_an_extension_is_a_program_of_a_package_of_its_own(self) -> None:
        for name, does in ("negative", "performs examples.negative"), ("qoi", "decodes qoi"):
            said = outside.run(outside.PRODUCTS / name, "--help")
            self.assertTrue(said.startswith(f"{name}: {does}, as a plug-in worker of"), said)
            # The last one seals cache entries; libzmq needs it as well.
            needed = {"zmq", "protobuf-c", "sodium"}
            self.assertEqual(outside.libraries(name), needed, name)

    def test_every_type_of_a_declaration_of_the_kit_is_exported(self) -> None:
        kit = "Kit/ImagebusWorker"
        thrown = {"Model.ImageError"}  # by plug-ins, which use untyped throws
        met = outside.types_in_declarations(kit) | thrown
        self.assertEqual(met, outside.exported_types(kit))

    def test_the_example_runs_as_a_package_of_its_own(self) -> None:
        os.environ["IMAGEBUS_RUNTIME_DIR"] = str(self.stack.runtime_dir)
        os.environ["THUMBNAILER_DIRECTORY"] = str(self.stack.folder)
        said = outside.run(outside.PRODUCTS / "service", self.serve(png(400, 200, 2)))
        self.assertIn(" 256x128 ", said)
        (written,) = self.stack.folder.glob("*.webp")
        self.assertEqual(written.read_bytes()[8:12], b"WEBP")

    def test_nothing_but_the_libraries_of_the_readme_comes_along(self) -> None:
        for name in "snippet", "strict-snippet", "tutorial", "service", "hits":
            self.assertEqual(outside.libraries(name), {"zmq", "protobuf-c"}, name)

    def test_every_type_of_a_public_declaration_is_exported(self) -> None:
        met, exported = outside.types_in_declarations(), outside.exported_types()
        self.assertGreater(len(met), 30)
        self.assertEqual(met - exported, OF_THE_STACK, "the public names lack one of these")
        self.assertEqual(exported - met, set(), "exported, and in no declaration")
