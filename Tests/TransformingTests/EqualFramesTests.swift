import Model
import Testing

/// Animations in which nothing moves, in the source or after the steps: encoders merge such frames,
/// and may encode the last one again when the file ends.
@Suite struct EqualFramesTests {
    private static let side = 32

    /// RGBA frames, one below the other, of 40 ms each. Only the upper left quarter is opaque,
    /// since a frame that doesn't fill the canvas is encoded again.
    private static func animation(
        of count: Int, _ sample: (_ frame: Int, _ x: Int, _ y: Int) -> Int
    ) -> Source {
        let frames = (0..<count).map { frame in
            Source(side, side, .rgba, format: .webp) { x, y, band in
                guard x < 16, y < 16 else { return 0 }
                return band == 3 ? 255 : sample(frame, x, y)
            }
        }
        var source = frames[0]
        source.samples = frames.flatMap(\.samples)
        source.layout.animation = AnimationProperties(
            durations: [UInt32](repeating: 40_000, count: count), loops: 0)
        source.info.pages = count
        return source
    }

    /// A checkerboard of single pixels, inverted in the next frame.
    private static func chess(_ frame: Int, _ x: Int, _ y: Int) -> Int {
        (x + y + frame) % 2 == 0 ? 255 : 0
    }

    private static func output(_ format: ImageFormat, lossless: Bool = false) -> OutputOptions {
        OutputOptions(format: format, quality: 80, lossless: format == .webp && lossless)
    }

    private static let small = TransformStep.resize(PixelSize(width: 8, height: 8), .stretch)

    @Test(arguments: [ImageFormat.webp, .gif, .png], [2, 3])
    func framesThatAreEqualAreOneImage(format: ImageFormat, count: Int) throws {
        let source = Self.animation(of: count) { _, x, y in x < 8 ? 200 : 20 }
        let found = try transform(source, [], output: Self.output(format, lossless: true))
        #expect(found.size == PixelSize(width: Self.side, height: Self.side))
        #expect(found.pixel(4, 4).prefix(3).allSatisfy { abs($0 - 200) <= 8 })
        #expect(found.pixel(12, 12).prefix(3).allSatisfy { abs($0 - 20) <= 8 })
    }

    @Test(arguments: [ImageFormat.webp, .gif, .png], [false, true])
    func framesMayBecomeEqualByAResize(format: ImageFormat, isLossless: Bool) throws {
        let source = Self.animation(of: 2, Self.chess)
        let found = try transform(
            source, [Self.small], output: Self.output(format, lossless: isLossless))
        #expect(found.size == PixelSize(width: 8, height: 8))
        let gray = found.pixel(1, 1)
        #expect(gray.prefix(3).allSatisfy { (118...138).contains($0) }, "\(gray)")
    }
}
