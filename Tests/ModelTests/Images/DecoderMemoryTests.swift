import Testing

@testable import Model

@Suite struct DecoderMemoryTests {
    @Test func rowsGrowWithPixelsChannelsAndSamples() {
        let row = DecoderMemory(perPixel: 3, perChannel: 9, copies: 2)
        #expect(row.bytes(pixels: 10, channels: 4, sampleBytes: 2) == 550)
        #expect(row.bytes(pixels: .max, channels: 4, sampleBytes: 2) == .max)
    }

    @Test func aFormatWithoutARowOfItsOwnHasTheNearestOne() {
        let streamed = DecoderMemory(perPixel: 1)
        let whole = DecoderMemory(perPixel: 2)
        #expect(DecoderMemoryRows(streamed: streamed)[.layered] == streamed)
        #expect(DecoderMemoryRows(streamed: streamed, whole: whole)[.layered] == whole)
    }

    @Test func everyFormatThatIsDecodedAsPixelsHasARow() {
        for traits in FormatTraits.rows where traits.input?.family == .raster {
            #expect(traits.input?.memory != DecoderMemoryRows(), "\(traits.name)")
        }
    }

    /// The first bytes of 16 × 16 pixels encoded by `cjxl` 0.7.
    private static let streams: [(String, DecoderMemoryRows.Coding)] = [
        ("ff0a43404271210012880200e004436f1400800a9551", .streamed),
        // Lossless.
        ("ff0a434040712108020100e8054b3842f5721df8996c", .whole),
        // With alpha.
        ("ff0a43c086cabd550401004880280008067b6e140080", .whole),
        // A preview of lower resolution first.
        ("ff0a43404271210a01000098000038005800584a2834", .whole),
        // Truncated within the frame header.
        ("ff0a4340427121", .whole),
    ]

    @Test(arguments: streams)
    func theHeaderOfAJPEGXLTellsHowItIsCoded(
        _ stream: (bytes: String, coding: DecoderMemoryRows.Coding)
    ) throws {
        let bytes = Self.bytes(stream.bytes)
        #expect(Self.coding(bytes)?.coding == stream.coding)
        // The same in a container, in two parts.
        for cut in [3, 5, 8] where cut < bytes.count {
            let file =
                box("JXL ", [0x0D, 0x0A, 0x87, 0x0A])
                + box("jxlp", [0, 0, 0, 0] + bytes[..<cut])
                + box("Exif", [0, 0, 0, 0])
                + box("jxlp", [0x80, 0, 0, 1] + bytes[cut...])
            #expect(Self.coding(file)?.coding == stream.coding, "in parts of \(cut)")
        }
    }

    @Test func channelsBesideTheColorsAreCounted() {
        let bytes = Self.bytes(Self.streams[2].0)
        #expect(Self.coding(bytes)?.extraChannels == 1)
    }

    private static func coding(_ bytes: [UInt8]) -> StoredCoding? {
        FormatTraits.rows.first { $0.format == .jxl }?.input?.coding?(HeaderBytes(bytes.span))
    }

    private static func bytes(_ text: String) -> [UInt8] {
        var (rest, bytes) = (text[...], [UInt8]())
        while rest.count >= 2 {
            if let byte = UInt8(rest.prefix(2), radix: 16) { bytes.append(byte) }
            rest = rest.dropFirst(2)
        }
        return bytes
    }
}
