import Model
import TestKit
import Testing

@testable import Imagebus

/// Animated WebPs assembled from lossless stills by Pillow, as read by libwebp.
@Suite struct AnimatedWebPTests {
    private let folder = TemporaryDirectory()

    /// Images of 23 × 17 pixels in these modes of Pillow, and their pixels according to Pillow. The
    /// second one has a profile of an odd size before its pixels.
    private func stills(
        _ modes: [String], side: Int = 23
    ) throws -> (files: [[UInt8]], pixels: [[UInt8]]) {
        let script = """
            import random, sys
            from PIL import Image
            folder, width, modes = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
            for index, mode in enumerate(modes):
                random.seed(index)
                image = Image.new("RGBA", (width, 17))
                image.putdata([(9 * x % 256, random.randrange(256), x * y * (index + 1) % 256,
                                255 - (index + 11) * x % 256)
                               for y in range(17) for x in range(width)])
                image = image.convert(mode)
                more = {"icc_profile": b"profile"} if index == 1 else {}
                image.save(f"{folder}/{index}.webp", lossless=True, **more)
                open(f"{folder}/{index}.raw", "wb").write(image.convert("RGBA").tobytes())
            """
        try Tool.run(["python3", "-c", script, folder.path, "\(side)"] + modes)
        return (
            try modes.indices.map { try #require(FileBytes.read(folder.file("\($0).webp"))) },
            try modes.indices.map { try #require(FileBytes.read(folder.file("\($0).raw"))) }
        )
    }

    private func join(
        _ files: [[UInt8]], _ durations: [Duration], loops: Int = 0, bytesMax: Int = 1 << 20
    ) throws(ImageError) -> [UInt8] {
        var joined = AnimatedWebP(loops: loops, bytesMax: bytesMax)
        for (file, duration) in zip(files, durations) {
            try file.span.bytes.withUnsafeBytes { (file) throws(ImageError) in
                try joined.add(file, for: duration)
            }
        }
        joined.end()
        return joined.bytes
    }

    private func read(_ file: [UInt8]) throws -> AnimatedFile {
        try AnimatedFile(at: folder.write(file, to: "made.webp"), in: folder)
    }

    @Test(arguments: [
        ["RGB", "RGB", "RGB"], ["RGBA", "RGBA"], ["RGB", "RGB", "RGBA", "RGB"], ["RGBA", "RGB"],
    ])
    func framesAreTheStillsWithOrWithoutAlpha(modes: [String]) throws {
        let (files, pixels) = try stills(modes)
        let found = try read(
            join(files, modes.indices.map { .milliseconds(40 + 30 * $0) }, loops: 3))
        #expect((found.width, found.height, found.plays) == (23, 17, 3))
        #expect(found.stated == modes.indices.map { 40_000 + 30_000 * $0 })
        try #require(found.frames.count == modes.count)
        for index in modes.indices {
            #expect(SeenPixels.areSame(found.frames[index], pixels[index]), "frame \(index)")
        }
    }

    /// A single frame is decoded as a still image, with alpha only if it has some.
    @Test(arguments: [("RGB", false), ("RGBA", true)])
    func theFileHasAlphaIfAFrameHas(mode: String, hasAlpha: Bool) throws {
        let file = try join(stills([mode]).files, [.seconds(1)])
        #expect(file[20] == (hasAlpha ? 0x12 : 0x02))
    }

    /// The second and third frame begin at 1.5 and 3 ms.
    @Test func durationsAreWholeMillisecondsWithoutDrift() throws {
        let (files, _) = try stills(Array(repeating: "RGB", count: 7))
        let durations: [Duration] = [
            .microseconds(1_500), .microseconds(1_500), .milliseconds(65_535),
            .milliseconds(65_537), .milliseconds(73), .seconds(3_600), .milliseconds(11),
        ]
        let found = try read(join(files, durations))
        #expect(
            found.stated == [
                2_000, 1_000, 65_535_000, 65_537_000, 73_000, 3_600_000_000, 11_000,
            ])
    }

    @Test func aFrameOfAnotherSizeSaysWhatToDo() throws {
        let first = try stills(["RGB"]).files[0]
        let other = try stills(["RGB"], side: 24).files[0]
        #expect {
            try join([first, other], [.seconds(1), .seconds(1)])
        } throws: { error in
            let error = error as? ImageError
            return error?.code == .stepFailed
                && error?.message.contains("it is 24x17, but the first one is 23x17") == true
                && error?.message.contains("--resize 23x17") == true
        }
    }

    @Test func theFileIsAsLongAsItMayBe() throws {
        let (files, _) = try stills(["RGB", "RGB"])
        let times: [Duration] = [.seconds(1), .seconds(1)]
        let whole = try join(files, times).count
        #expect(try join(files, times, bytesMax: whole).count == whole)
        #expect {
            try join(files, times, bytesMax: whole - 1)
        } throws: {
            let error = $0 as? ImageError
            return error?.code == .limitExceeded && error?.details["limit"] == "\(whole - 1)"
        }
    }

    @Test func whatIsNoStillOfOursIsRefused() throws {
        let whole = try stills(["RGB"]).files[0]
        let lossy = Array(whole[..<15]) + Array(" ".utf8) + whole[16...]
        for file in [[], Array("GIF89a".utf8), lossy, Array(whole.dropLast(2))] {
            #expect(throws: ImageError.self) { try join([file], [.seconds(1)]) }
        }
    }
}
