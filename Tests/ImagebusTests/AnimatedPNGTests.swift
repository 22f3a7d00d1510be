import Model
import TestKit
import Testing

@testable import Imagebus

/// Animated PNGs assembled from stills, as read by apngdis and Pillow.
@Suite struct AnimatedPNGTests {
    private let folder = TemporaryDirectory()

    /// PNGs of 23 × 17 pixels in these modes of Pillow, and their pixels according to Pillow.
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
                image.save(f"{folder}/{index}.png")
                open(f"{folder}/{index}.raw", "wb").write(image.convert("RGBA").tobytes())
            """
        try Tool.run(["python3", "-c", script, folder.path, "\(side)"] + modes)
        return (
            try modes.indices.map { try #require(FileBytes.read(folder.file("\($0).png"))) },
            try modes.indices.map { try #require(FileBytes.read(folder.file("\($0).raw"))) }
        )
    }

    private func join(
        _ files: [[UInt8]], _ durations: [Duration], loops: Int = 0, bytesMax: Int = 1 << 20
    ) throws(ImageError) -> [UInt8] {
        var png = AnimatedPNG(frames: files.count, loops: loops, bytesMax: bytesMax)
        for (file, duration) in zip(files, durations) {
            try file.span.bytes.withUnsafeBytes { (file) throws(ImageError) in
                try png.add(file, for: duration)
            }
        }
        png.end()
        return png.bytes
    }

    private func read(_ file: [UInt8]) throws -> AnimatedFile {
        try AnimatedFile(at: folder.write(file, to: "made.apng"), in: folder)
    }

    @Test(arguments: [
        ["L", "L", "L"], ["LA", "LA"], ["RGB", "RGB", "RGB"], ["RGBA", "RGBA"],
        // Stills with other modes than the first one.
        ["RGB", "RGB", "RGBA", "RGB"], ["L", "RGB", "L"], ["RGBA", "L", "LA", "RGB"],
        ["LA", "LA", "RGB"],
    ])
    func framesAreTheStillsWhateverTheirChannels(modes: [String]) throws {
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

    @Test func dataOfTheSameChannelsAreTakenAsTheyAre() throws {
        let (files, _) = try stills(["RGB", "RGB"])
        let produced = try join(files, [.seconds(1), .seconds(1)])
        for file in files {
            let data = file.span.bytes.withUnsafeBytes {
                PNGPixels.data(of: $0).flatMap(Array.init)
            }
            #expect(produced.firstRange(of: data) != nil)
        }
    }

    @Test func longDurationsAreToldAsFinelyAsTheFormatCan() throws {
        let (files, _) = try stills(Array(repeating: "L", count: 6))
        let durations: [Duration] = [
            .milliseconds(1), .milliseconds(65_535), .milliseconds(65_537), .milliseconds(73),
            .seconds(3_600), .milliseconds(11),
        ]
        let found = try read(join(files, durations))
        #expect(
            found.stated == [1_000, 65_535_000, 65_540_000, 70_000, 3_600_000_000, 11_000])
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
        #expect(try join(files, times, bytesMax: whole + 64).count == whole)
        #expect {
            try join(files, times, bytesMax: whole - 1)
        } throws: {
            let error = $0 as? ImageError
            return error?.code == .limitExceeded && error?.details["limit"] == "\(whole - 1)"
        }
    }

    @Test func whatIsNoStillOfOursIsRefused() throws {
        let palette = try stills(["P"]).files[0]
        for file in [Array("GIF89a".utf8), palette] {
            #expect(throws: ImageError.self) { try join([file], [.seconds(1)]) }
        }
    }
}
