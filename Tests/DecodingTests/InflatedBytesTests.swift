import Model
import PNG
import StageKit
import TestKit
import Testing
import Vips

@testable import Decoding

/// The data that a PNG inflates besides its pixels is limited (SEMANTICS §9.8).
@Suite struct InflatedBytesTests {
    private static let limits = ImageLimits(metadataBytesMax: 1 << 20)
    /// Exceeds the limit in each reading of a header.
    private static let many = 8 << 20

    @Test func bytesBehindThePixelsEndTheDecode() {
        let bytes = PNGOfZeros.file(pixelBytes: Self.many)
        let error = failure(bytes, limits: Self.limits)
        #expect(error?.code == .limitExceeded)
        #expect(error?.details["limit"] == "inflatedBytesMax")
        #expect(!InflateLimit.isExceeded, "the limit ends with its job")
    }

    @Test(arguments: ["iTXt", "zTXt"], [DecodeNeed.header, .full])
    func compressedTextsEndTheDecode(_ type: String, _ need: DecodeNeed) {
        let texts = Array(repeating: PNGOfZeros.metadata(type, Self.many), count: 8)
        let error = failure(PNGOfZeros.file(texts), need, limits: Self.limits)
        #expect(error?.code == .limitExceeded)
    }

    @Test func whatIsWithinTheLimitIsDecoded() throws {
        let text = PNGOfZeros.metadata("iTXt", 1 << 16)
        let bytes = PNGOfZeros.file([text], pixelBytes: 1 << 19)
        #expect(throws: Never.self) { try decode(bytes, limits: Self.limits) }
        #expect(throws: Never.self) { try decode(PNGOfZeros.file(), limits: Self.limits) }
    }

    /// The rows of a large image don't count as excess, nor do those of seven passes.
    @Test(arguments: [false, true])
    func rowsAreWithinTheLimit(isInterlaced: Bool) throws {
        let few = ImageLimits(metadataBytesMax: 100)
        for (width, height) in [(1, 1), (1, 513), (513, 1), (7, 5), (300, 200)] {
            let bytes = try Sources.encoded(
                .png(compression: 6, interlaced: isInterlaced), width, height
            ) { x, y, band in x * y + band }
            #expect(throws: Never.self, "\(width)x\(height)") { try decode(bytes, limits: few) }
        }
    }
}
