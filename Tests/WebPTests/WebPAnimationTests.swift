import CodecSupport
import Testing
import Vips
import WebP

/// Animations with identical frames: libwebp merges them into one. If that frame doesn't cover the
/// canvas, it is encoded again as a still image when the file is finished.
@Suite struct WebPAnimationTests {
    private static let (width, height) = (24, 16)

    /// A file with frames of 40 ms each; `cancels` is only called at the end.
    private static func file(
        of frames: [Pixels], isLossless: Bool = true, cancels: () -> Bool = never
    ) throws -> [UInt8] {
        let encoding = WebPEncoding(
            width: width, height: height, quality: 80, isLossless: isLossless)
        let animation = try WebPAnimation(encoding, plays: 0)
        for (index, frame) in frames.enumerated() {
            try add(frame, from: 40 * index, to: animation)
        }
        var bytes: [UInt8] = []
        try animation.finish(at: 40 * frames.count) {
            bytes += $0
            return true
        } isCancelled: {
            cancels()
        }
        return bytes
    }

    /// Not inlined: the state of the `isCancelled` closure must be released when `add` returns, so
    /// that a later call of the closure is detected.
    @inline(never)
    private static func add(
        _ frame: Pixels, from start: Int, to animation: WebPAnimation
    ) throws {
        var hasEnded = false
        defer { hasEnded = true }
        try frame.bytes.withUnsafeBytes { bytes in
            try animation.add(bytes, from: start) {
                #expect(!hasEnded)
                return false
            }
        }
    }

    /// Colors in a corner; the rest is transparent.
    private static let corner = Pixels(width, height, bands: 4) { x, y, band in
        guard x < 8, y < 6 else { return 0 }
        return band == 3 ? 255 : 20 * x + 10 * y + 30 * band
    }

    /// Colors everywhere.
    private static let full = Pixels.gradient(width, height, bands: 4)

    @Test(arguments: [1, 2, 5], [corner, full])
    func equalFramesBecomeOneWithTheirPixels(count: Int, frame: Pixels) throws {
        let bytes = try Self.file(of: Array(repeating: frame, count: count))
        let decoded = try decode(bytes)
        #expect(decoded.header.pages == 1)
        // The colors of transparent pixels are undefined.
        let seen = decoded.samples.indices.map { index in
            decoded.samples[index | 3] == 0 ? 0 : decoded.samples[index]
        }
        #expect(seen == frame.bytes)
    }

    @Test(arguments: [true, false])
    func whatIsFinishedCanBeCancelled(isLossless: Bool) throws {
        for call in 1...3 {
            var calls = 0
            let error = #expect(throws: CodecError.self) {
                try Self.file(of: [Self.corner, Self.corner], isLossless: isLossless) {
                    calls += 1
                    return calls == call
                }
            }
            #expect(error?.kind == .cancelled, "\(String(describing: error))")
            #expect(calls == call)
        }
    }

    @Test func whatNobodyCancelsIsAskedAboutInTheEnd() throws {
        var calls = 0
        let bytes = try Self.file(of: [Self.corner, Self.corner]) {
            calls += 1
            return false
        }
        #expect(calls > 0 && !bytes.isEmpty)
    }

    @Test func framesThatDifferStay() throws {
        let other = Pixels(Self.width, Self.height, bands: 4) { x, y, band in
            band == 3 ? 255 : 10 * x + y
        }
        let bytes = try Self.file(of: [Self.full, other, other])
        #expect(try decode(bytes).header.pages == 2)
    }
}
