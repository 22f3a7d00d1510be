import ImageModel
import Messages
import Testing

/// Animations of which nothing moves, in the source or after the steps: encoders join such frames,
/// and may encode what is left once more when the file ends.
@Suite struct EqualFramesTests {
    private static let side = 32

    /// RGBA frames below each other, of 40 ms each. Only the upper left quarter of them is opaque:
    /// what does not fill the canvas is encoded once more.
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

    /// Fields of a chessboard of one pixel, of which the next frame has the other ones.
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
