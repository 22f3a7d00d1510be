import Linux
import Model
import StackKit
import TestKit
import Testing

@testable import Imagebus

/// Pixels of frames compared with libvips, and the limit on the bytes of frames.
@Suite struct FramePixelTests {
    /// A PNG by Pillow of 61 × 47 pixels, with rows of every filter.
    private func file(_ mode: String, _ options: String = "") throws -> [UInt8] {
        let folder = TestKit.TemporaryDirectory()
        let script = """
            import random, sys
            from PIL import Image
            random.seed(7)
            image = Image.new("RGBA", (61, 47))
            image.putdata([(4 * x % 256, (x * y) % 256, random.randrange(9 + y), 255 - 3 * x)
                           for y in range(47) for x in range(61)])
            image.convert(sys.argv[1]).save(sys.argv[2], "PNG"\(options))
            """
        _ = try Tool.run(["python3", "-c", script, mode, folder.file("a.png")])
        return try #require(FileBytes.read(folder.file("a.png")))
    }

    private func pixels(_ file: [UInt8]) throws(ImageError) -> FramePixels {
        try file.span.bytes.withUnsafeBytes { (bytes) throws(ImageError) in
            try PNGPixels.pixels(of: bytes)
        }
    }

    @Test(arguments: [("L", 1), ("LA", 2), ("RGB", 3), ("RGBA", 4)])
    func pixelsAreThoseOfAnotherReader(mode: String, bands: Int) throws {
        let file = try file(mode)
        let wanted = try Pixels(decoding: file)
        let found = try pixels(file)
        try #require(found.size == PixelSize(width: 61, height: 47))
        try #require(wanted.bands == bands)
        var wrong = 0
        for y in 0..<47 {
            for x in 0..<61 {
                let pixel = wanted.at(x, y)
                let color = bands < 3 ? [pixel[0], pixel[0], pixel[0]] : Array(pixel.prefix(3))
                let alpha = bands % 2 == 0 ? pixel[bands - 1] : 255
                let start = 4 * (61 * y + x)
                if Array(found.rgba[start..<start + 4]) != color + [alpha] { wrong += 1 }
            }
        }
        #expect(wrong == 0)
    }

    @Test func whatIsNoFrameOfOursIsRefused() throws {
        let whole = try file("RGBA")
        #expect(throws: ImageError.self) { try pixels(Array(whole.prefix(whole.count / 2))) }
        #expect(throws: ImageError.self) { try pixels(Array("GIF89a".utf8)) }
        #expect(throws: ImageError.self) { try pixels([]) }
        #expect {
            try pixels(file("P"))
        } throws: {
            ($0 as? ImageError)?.code == .unsupportedFormat
        }
        var damaged = whole
        damaged[whole.count / 2] ^= 0xFF
        #expect(throws: ImageError.self) { try pixels(damaged) }
        var huge = whole
        huge.replaceSubrange(16..<20, with: [0x7F, 0xFF, 0xFF, 0xFF])
        #expect { try pixels(huge) } throws: { ($0 as? ImageError)?.code == .limitExceeded }
    }

    /// Palette indices with and without transparent colors.
    @Test(arguments: [false, true]) func indexesAreThoseOfAnotherReader(isClear: Bool) throws {
        let folder = TestKit.TemporaryDirectory()
        let script = """
            import sys
            from PIL import Image
            image = Image.new("P", (61, 47))
            image.putdata([(x * y + y) % 200 for y in range(47) for x in range(61)])
            image.putpalette([(7 * number) % 256 for number in range(600)])
            more = {"transparency": bytes([0, 99])} if sys.argv[1] == "true" else {}
            image.save(sys.argv[2], "PNG", bits=8, **more)
            sys.stdout.buffer.write(Image.open(sys.argv[2]).convert("RGBA").tobytes())
            """
        let wanted = try Tool.run(["python3", "-c", script, "\(isClear)", folder.file("a.png")])
        let file = try #require(FileBytes.read(folder.file("a.png")))
        let found = try file.span.bytes.withUnsafeBytes { (bytes) throws(ImageError) in
            try IndexedPixels(png: bytes)
        }
        #expect(found.size == PixelSize(width: 61, height: 47))
        #expect(found.indexes.flatMap { found.palette[Int($0)] } == wanted)
        #expect(found.palette[0][3] == (isClear ? 0 : 255))
        for other in [try self.file("RGB"), Array(file.prefix(file.count / 2))] {
            #expect(throws: ImageError.self) {
                try other.span.bytes.withUnsafeBytes { (bytes) throws(ImageError) in
                    try IndexedPixels(png: bytes)
                }
            }
        }
    }

    @Test func theBudgetIsAPartOfTheMemoryThatThereIs() {
        var supply = MemorySupply()
        #expect(FrameBudget.automatic.bytes(of: supply) == 256 << 20)
        supply.totalBytes = 1_000_000
        #expect(FrameBudget.automatic.bytes(of: supply) == 200_000)
        supply.availableBytes = 100_000
        #expect(FrameBudget.automatic.bytes(of: supply) == 60_000)
        (supply.limitBytes, supply.usedBytes) = (500_000, 490_000)
        #expect(FrameBudget.automatic.bytes(of: supply) == 6_000)
        supply.usedBytes = 600_000
        #expect(FrameBudget.automatic.bytes(of: supply) == 0)
        #expect(FrameBudget.bytes(-1).bytes(of: supply) == 0)
        #expect(FrameBudget.least.bytes(of: supply) == 0)
        #expect(FrameBudget.all.bytes(of: supply) == .max)
    }
}
