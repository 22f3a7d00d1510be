import Model
import TestKit
import Testing
import Vips

@testable import Decoding

/// Frames compared with those of other decoders.
@Suite struct FrameReaderTests {
    @Test(arguments: AnimatedFile.names)
    func everyFrameIsThatOfAnotherReader(name: String) throws {
        let file = try AnimatedFile(generated: name)
        // libwebp's blend factors have eight bits.
        try expectFrames(of: file, within: name == "half-over-clean.webp" ? 2 : 0, name)
        try expectTimes(of: file)
        try expectAnyOrder(of: file, name)
    }

    /// The low bits of avifdec's 16-bit output are dropped.
    @Test(arguments: AnimatedFile.sequences)
    func everyFrameOfASequenceIsThatOfAnotherReader(name: String) throws {
        let file = try AnimatedFile(generated: name)
        let most = ["deep.avif", "lossy.avif"].contains(name) ? 1 : 0
        try expectFrames(of: file, within: most, name)
        try expectTimes(of: file, isTurned: name.contains("turned"))
        try expectAnyOrder(of: file, name)
    }

    @Test(
        .enabled(if: Fixtures.folder != nil, "needs IMAGEBUS_FIXTURES"),
        arguments: [
            "TestImage.gif", "TestLoopCount.gif", "1@2x.gif", "TestImageAnimated.apng",
            "TestImageLarge.png", "TestImageAnimated.webp", "TestAnimatedImageMemory.webp",
        ])
    func everyFrameOfAFixtureIsThatOfAnotherReader(name: String) throws {
        let folder = TemporaryDirectory()
        let path = folder.write(try Fixtures.read("images/\(name)"), to: name)
        try expectFrames(of: AnimatedFile(at: path, in: folder), within: 0, name)
    }

    private func expectFrames(of file: AnimatedFile, within most: Int, _ name: String) throws {
        let frames = try Self.frames(of: file)
        try #require(frames.count == file.frames.count)
        for (index, frame) in frames.enumerated() {
            expectSame(frame, file.frames[index], within: most, "\(name), frame \(index)")
        }
    }

    private func expectAnyOrder(of file: AnimatedFile, _ name: String) throws {
        var chance = SeededGenerator(seed: 20_261_124)
        let inOrder = try Self.frames(of: file)
        let order = inOrder.indices.flatMap { [$0, $0] }.shuffled(using: &chance)
        for (index, frame) in zip(order, try Self.frames(of: file, in: order)) {
            #expect(frame == inOrder[index], "\(name), frame \(index)")
        }
    }

    private func expectTimes(of file: AnimatedFile, isTurned: Bool = false) throws {
        let walked = AnimationMap(file.bytes.span, framesMax: 1_000)
        let map = try #require(walked)
        #expect(map.plays == file.plays)
        #expect(map.end == .whole)
        let size = PixelSize(width: file.width, height: file.height)
        #expect(isTurned || map.canvas == size)
        // Durations below 11 ms are shown for 100 ms.
        let durations = file.stated.map { $0 < 11_000 ? 100_000 : $0 }
        #expect(map.frames.map(\.duration) == durations)
        #expect(durations.contains(100_000) && Set(durations).count > 3)
    }

    /// Expects that no sample differs by more; colors of transparent pixels don't count.
    private func expectSame(
        _ found: [UInt8], _ wanted: [UInt8], within most: Int, _ what: String
    ) {
        guard found != wanted else { return }
        guard found.count == wanted.count else {
            Issue.record("\(what): \(found.count) bytes instead of \(wanted.count)")
            return
        }
        var (wrong, first) = (0, -1)
        for pixel in stride(from: 0, to: found.count, by: 4) {
            if found[pixel + 3] == 0, wanted[pixel + 3] == 0 { continue }
            let differences = (pixel..<pixel + 4).map { abs(Int(found[$0]) - Int(wanted[$0])) }
            guard differences.contains(where: { $0 > most }) else { continue }
            if wrong == 0 { first = pixel }
            wrong += 1
        }
        guard wrong > 0 else { return }
        Issue.record(
            """
            \(what): \(wrong) pixels differ, the first at \(first / 4): \
            \(found[first..<first + 4]) in place of \(wanted[first..<first + 4])
            """)
    }

    private static func frames(of file: AnimatedFile, in order: [Int]? = nil) throws -> [[UInt8]] {
        try VipsLibrary().exclusively {
            try file.bytes.withUnsafeBytes { bytes in
                let decoder = try FormatDecoders.raster.decoder(of: bytes)
                let source = try SourceImage(bytes, by: decoder)
                guard
                    var reader = try FrameReader(
                        of: source, noting: nil, ImageLimits(), framesMax: 1_000)
                else { return [] }
                var frames: [[UInt8]] = []
                for index in order ?? Array(reader.map.frames.indices) {
                    frames.append(
                        try reader.pixels(
                            of: index, in: bytes, limits: ImageLimits(),
                            cancellation: CancellationFlag()))
                }
                return frames
            }
        }
    }
}
