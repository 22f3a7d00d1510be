"""The comparison detects real differences and tolerates those between correct decoders."""

import os
import signal
import time
import unittest

import bounded
from compare import compare
from judgement import Judgement
from picture import DRAWN, EXACT, Picture, Refused, read_pam
from PIL import Image, ImageChops, ImageFilter


def scene(size: tuple[int, int] = (96, 64)) -> Image.Image:
    """Broad shapes, fine detail and partial alpha, without any symmetry."""
    width, height = size
    red = Image.linear_gradient("L").resize(size)
    green = Image.radial_gradient("L").resize(size)
    blue = Image.linear_gradient("L").rotate(90).resize(size)
    image = Image.merge("RGB", (red, green, blue))
    image.paste((250, 20, 30), (width // 8, height // 8, width // 3, height // 4))
    image.paste((20, 30, 250), (width // 2, height // 2, width - 5, height // 2 + 3))
    alpha = Image.new("L", size, 255)
    alpha.paste(128, (0, height - 16, 40, height))
    image.putalpha(alpha)
    return image


def reason(ours: Image.Image, reference: Image.Image, **more) -> str | None:
    found = compare(Picture(ours, 1), Picture(reference, **more))
    return found and found.reason


def with_channel(image: Image.Image, index: int, change) -> Image.Image:
    bands = list(image.split())
    bands[index] = bands[index].point(change)
    return Image.merge("RGBA", bands)


class ComparisonTests(unittest.TestCase):
    def test_the_same_picture_agrees(self) -> None:
        for tolerance in (EXACT, DRAWN):
            self.assertIsNone(reason(scene(), scene(), tolerance=tolerance))

    def test_one_channel_that_differs_is_found(self) -> None:
        for index in range(3):
            other = with_channel(scene(), index, lambda value: max(0, value - 12))
            self.assertEqual(reason(other, scene()), "pixels", index)
            self.assertEqual(reason(other, scene(), tolerance=EXACT), "pixels", index)

    def test_swapped_channels_are_found(self) -> None:
        red, green, blue, alpha = scene().split()
        swapped = Image.merge("RGBA", (blue, green, red, alpha))
        self.assertEqual(reason(swapped, scene()), "pixels")

    def test_alpha_that_differs_is_found_as_alpha(self) -> None:
        other = with_channel(scene(), 3, lambda value: 255)
        self.assertEqual(reason(other, scene()), "alpha")

    def test_colors_under_transparency_do_not_count(self) -> None:
        clear = Image.new("RGBA", (16, 16), (255, 0, 0, 0))
        self.assertIsNone(reason(clear, Image.new("RGBA", (16, 16)), tolerance=EXACT))

    def test_another_size_is_found(self) -> None:
        self.assertEqual(reason(scene(), scene((96, 65))), "size")

    def test_every_wrong_orientation_is_found(self) -> None:
        for size in ((96, 64), (64, 64)):
            for turn in Image.Transpose:
                turned = scene(size).transpose(turn)
                self.assertEqual(reason(turned, scene(size)), "orientation", (size, turn))

    def test_frames_are_counted(self) -> None:
        self.assertEqual(reason(scene(), scene(), frames=3), "frames")

    def test_the_last_frame_is_compared(self) -> None:
        ours = Picture(scene(), 2, ImageChops.invert(scene()))
        found = compare(ours, Picture(scene(), 2, scene()))
        self.assertEqual(found.reason, "last frame")

    def test_one_wrong_block_is_found_in_a_large_picture(self) -> None:
        reference = scene((960, 640))
        other = reference.copy()
        other.paste((0, 0, 0, 255), (480, 320, 496, 336))
        self.assertEqual(reason(other, reference), "pixels")

    def test_one_wrong_pixel_is_found_where_values_are_exact(self) -> None:
        other = scene()
        red, green, blue, alpha = other.getpixel((50, 10))
        other.putpixel((50, 10), (red, (green + 10) % 256, blue, alpha))
        self.assertEqual(reason(other, scene(), tolerance=EXACT), "pixels")

    def test_chroma_subsampling_is_tolerated_where_files_are_lossy(self) -> None:
        # As saturated as a photo.
        grey = Image.new("RGBA", (240, 160), (128, 128, 128, 255))
        sharp = Image.blend(scene((240, 160)), grey, 0.4).convert("RGB")
        luma, *chroma = sharp.convert("YCbCr").split()
        halved = [band.reduce(2) for band in chroma]
        pictures = []
        for method in (Image.Resampling.NEAREST, Image.Resampling.BILINEAR):
            bands = [band.resize(sharp.size, method) for band in halved]
            pictures.append(Image.merge("YCbCr", (luma, *bands)).convert("RGBA"))
        self.assertIsNone(reason(*pictures))
        self.assertEqual(reason(*pictures, tolerance=EXACT), "pixels")

    def test_a_blurred_picture_is_found(self) -> None:
        picture = Image.effect_noise((96, 64), 120).convert("RGBA")
        self.assertEqual(reason(picture.filter(ImageFilter.BoxBlur(4)), picture), "pixels")

    def test_pam(self) -> None:
        header = b"P7\nWIDTH 2\nHEIGHT 1\nDEPTH 2\nMAXVAL 255\nTUPLTYPE X\n#    \nENDHDR\n"
        pixels = [(9, 9, 9, 255), (10, 10, 10, 0)]
        image = read_pam(header + bytes([9, 255, 10, 0]))
        self.assertEqual([image.getpixel((x, 0)) for x in (0, 1)], pixels)


class JudgementTests(unittest.TestCase):
    right = Picture(scene(), 1)
    wrong = Picture(ImageChops.invert(scene().convert("RGB")).convert("RGBA"), 1)
    refused = Refused("badImageData", "cut off")

    def verdict(self, ours, **references) -> str:
        return Judgement.of(ours, references).verdict

    def test_chromium_decides_where_it_shows_the_file(self) -> None:
        right, wrong = self.right, self.wrong
        self.assertEqual(self.verdict(wrong, Pillow=wrong, Chromium=right), "differ")
        self.assertEqual(self.verdict(right, Pillow=wrong, Chromium=right), "agree")

    def test_one_of_the_others_is_enough_without_it(self) -> None:
        right, wrong, refused = self.right, self.wrong, self.refused
        self.assertEqual(
            self.verdict(right, Pillow=wrong, libvips=right, Chromium=refused), "agree"
        )
        self.assertEqual(self.verdict(right, Pillow=wrong, Chromium=refused), "differ")
        self.assertEqual(self.verdict(right, Pillow=refused), "shown by Imagebus alone")

    def test_refusals(self) -> None:
        right, refused = self.right, self.refused
        self.assertEqual(self.verdict(refused, Pillow=right), "refused")
        self.assertEqual(self.verdict(refused, Pillow=refused), "refused by all")
        self.assertEqual(self.verdict(Refused("internalError"), Pillow=refused), "fault")
        row = Judgement.of(refused, {"Pillow": right}).outcomes["Pillow"].row
        self.assertEqual(row, "refused by Imagebus: badImageData")

    def test_of_damaged_files_only_the_size_counts(self) -> None:
        damaged = Picture(scene(), is_damaged=True)
        self.assertEqual(self.verdict(self.wrong, Pillow=damaged), "agree")
        smaller = Picture(scene((48, 32)), is_damaged=True)
        self.assertEqual(self.verdict(self.wrong, Pillow=smaller), "differ")


class BoundedTests(unittest.TestCase):
    memory = 4 << 30

    def call(self, function, seconds: float = 20, memory: int = memory):
        return bounded.call(function, seconds=seconds, memory=memory)

    def test_results_and_errors_come_back(self) -> None:
        self.assertEqual(len(self.call(lambda: bytes(3_000_000))), 3_000_000)
        with self.assertRaisesRegex(ValueError, "odd"):
            self.call(lambda: int("odd"))

    def test_deadline(self) -> None:
        began = time.monotonic()
        with self.assertRaisesRegex(bounded.Ended, "no result within 0.2 s"):
            self.call(lambda: time.sleep(60), seconds=0.2)
        self.assertLess(time.monotonic() - began, 30)

    def test_memory_limit(self) -> None:
        with self.assertRaises(MemoryError):
            self.call(lambda: len(bytes(2 << 30)), memory=1 << 30)

    def test_crash(self) -> None:
        with self.assertRaisesRegex(bounded.Ended, "crashed"):
            self.call(lambda: os.kill(os.getpid(), signal.SIGSEGV))

    def test_parallel(self) -> None:
        found = bounded.parallel(
            lambda value: value * 2, range(1, 20), jobs=3, seconds=20, memory=self.memory
        )
        self.assertEqual(sorted(found), [(value, value * 2) for value in range(1, 20)])


if __name__ == "__main__":
    unittest.main()
