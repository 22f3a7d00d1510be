import Model
import StageKit
import TestKit
import Testing
import Vips

@testable import Decoding

/// Limits set by the operator (SEMANTICS §9.8) apply to the decoded image.
@Suite struct LimitTests {
    private static func image(_ encoding: VipsEncoding) throws -> [UInt8] {
        try Sources.encoded(encoding, 800, 400) { x, y, _ in (x + y) / 5 }
    }

    private let small = DecodeNeed.cover(PixelSize(width: 100, height: 50), .fit)

    @Test func whatIsMadeSmallerCountsAsItIsDecoded() throws {
        let limits = ImageLimits(sideMax: 100, pixelsMax: 100 * 50)
        for encoding in [VipsEncoding.jpeg(quality: 80), .webp(quality: 80)] {
            let bytes = try Self.image(encoding)
            #expect(throws: Never.self) { try decode(bytes, small, limits: limits) }
            for need in [DecodeNeed.full, .header, .cover(PixelSize(width: 101, height: 51), .fit)]
            {
                let error = failure(bytes, need, limits: limits)
                #expect(error?.details["setting"] == "side-limit", "\(need)")
            }
        }
        let error = failure(try Self.image(.png(compression: 6)), small, limits: limits)
        #expect(error?.details["limit"] == "sideMax")
    }

    @Test func theErrorNamesLimitValueAndSetting() throws {
        let error = failure(
            try Self.image(.png(compression: 6)), limits: ImageLimits(pixelsMax: 319_999))
        #expect(
            error?.details == [
                "limit": "pixelsMax", "value": "320000", "permitted": "319999",
                "setting": "pixel-limit",
            ])
        let expected = "the image has 320000 pixels (800x400), but pixel-limit permits 319999"
        #expect(error?.message == expected)
    }

    /// libjxl would allocate 2 GB for these 4 KB, and aborts if it gets less.
    @Test func anImageWhoseDecoderTakesTooMuchMemoryIsRefused() throws {
        let error = failure(LargeJXL.file)
        #expect(error?.code == .limitExceeded)
        #expect(error?.details["limit"] == "decoderMemory")
        #expect(error?.details["permitted"] == "\(ImageLimits.decoderBytesMax)")
        #expect(error?.message.contains("use a smaller source") == true)
        let size = try decode(LargeJXL.file, .header).image.info.size
        #expect(size == PixelSize(width: 9_990, height: 9_990))
    }

    @Test func metadataCounts() throws {
        let plain = try Self.image(.jpeg(quality: 80))
        let text = String(repeating: "x", count: 5_000)
        for need in [DecodeNeed.header, .full] {
            let limits = ImageLimits(metadataBytesMax: 5_000)
            #expect(throws: Never.self) { try decode(plain, need, limits: limits) }
            let error = failure(plain.withXMP(text + "y"), need, limits: limits)
            #expect(error?.details["limit"] == "metadataBytesMax")
            #expect(error?.details["value"].flatMap { Int($0) } ?? 0 > 5_000)
            #expect(error?.details["setting"] == "metadata-limit")
        }
    }

    @Test func aWorkerHasLimitsOfItsOwn() throws {
        let boundless = ImageLimits(
            sideMax: .max, pixelsMax: .max, pixelBytesMax: .max, pagesMax: .max,
            metadataBytesMax: .max)
        #expect(boundless.clamped(to: .ofWorkers) == .ofWorkers)
        let narrow = ImageLimits(
            sideMax: 1, pixelsMax: 2, pixelBytesMax: 3, pagesMax: 4, metadataBytesMax: 5)
        #expect(narrow.clamped(to: .ofWorkers) == narrow)
        // The header of a PNG suffices to know its pixel count.
        var wide = try Sources.encoded(.png(compression: 6), 4, 4) { x, _, _ in x }
        for (offset, byte) in zip(16..., [0, 1, 0, 0] as [UInt8]) { wide[offset] = byte }
        let crc = PNGChecksum.of(wide[12..<29])
        wide.replaceSubrange(29..<33, with: crc)
        let error = failure(wide, .header, limits: boundless)
        // No setting raises this limit.
        #expect(error?.details["setting"] == nil)
        #expect(error?.message.contains("at most 65535 are decoded") == true)
        #expect(error?.details["permitted"] == "65535")
    }

    /// A progressive file is held in full, however small the result.
    @Test func whatIsKeptOfTheWholeImageIsLimited() throws {
        let bytes = try Self.image(.jpeg(quality: 80, progressive: true))
        let need = DecodeNeed.cover(PixelSize(width: 100, height: 50), .fit)
        let enough = ImageLimits(pixelsMax: 120_000, pixelBytesMax: 100 * 50 * 3)
        #expect(throws: Never.self) { try decode(bytes, need, limits: enough) }
        let less = ImageLimits(pixelsMax: 50_000, pixelBytesMax: 100 * 50 * 3)
        #expect(failure(bytes, need, limits: less)?.details["limit"] == "pixelBytesMax")
        let single = try Self.image(.jpeg(quality: 80))
        #expect(throws: Never.self) { try decode(single, need, limits: less) }
    }
}

/// CRC-32 of a chunk, bit by bit (PNG, annex D).
enum PNGChecksum {
    static func of(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        var crc: UInt32 = .max
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
        }
        crc ^= .max
        return (0..<4).map { UInt8(truncatingIfNeeded: crc >> UInt32(24 - 8 * $0)) }
    }
}
