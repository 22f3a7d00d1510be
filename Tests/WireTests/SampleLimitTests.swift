import Model
import Testing

@testable import Wire

/// Samples of more than 8 bits fit their declared layout and have known color properties, and the
/// metadata beside pixels is within its limits and inside their block.
@Suite struct SampleLimitTests {
    private static func rule(
        _ name: String, _ layout: ProtobufBytes, _ field: String,
        _ problem: FieldError.Problem = .outOfRange
    ) -> BrokenRule {
        BrokenRule(name, .outcome, .pixels(layout), field, problem)
    }

    private static func samples(
        bits: UInt64, bands: UInt64 = 3, stride: UInt64 = 12, offset: UInt64 = 0, planes: Int = 1
    ) -> ProtobufBytes {
        .layout(bands: bands, offset: offset, stride: stride, planes: planes).number(4, bits)
    }

    private static func colors(primaries: UInt64 = 9, transfer: UInt64 = 16) -> ProtobufBytes {
        .none.number(1, primaries).number(2, transfer)
    }

    static let sampleCases: [BrokenRule] = [
        rule("17 bits", samples(bits: 17), "PixelLayout.sample_bits"),
        rule("7 bits", samples(bits: 7), "PixelLayout.sample_bits"),
        rule("rows too short for 16 bits", samples(bits: 16, stride: 10), "PixelPlane.stride"),
        rule("rows at odd bytes", samples(bits: 9, stride: 13), "PixelPlane.stride"),
        rule("samples at odd bytes", samples(bits: 9, offset: 1), "PixelPlane.stride"),
        rule("planes of 16 bits", samples(bits: 16, bands: 1, planes: 3), "PixelLayout.planes"),
        rule(
            "a high range in 8 bits", .layout(stride: 12).message(5, colors()),
            "PixelLayout.planes"),
        rule(
            "a high range of grey", samples(bits: 10, bands: 1).message(5, colors()),
            "PixelLayout.planes"),
        rule(
            "unknown primaries", samples(bits: 10).message(5, colors(primaries: 2)),
            "HDRColours.primaries", .unknownValue),
        rule(
            "an unknown transfer", samples(bits: 10).message(5, colors(transfer: 13)),
            "HDRColours.transfer", .unknownValue),
    ]

    private static func metadata(
        _ kind: UInt64, offset: UInt64 = 0, length: UInt64 = 1, times: Int = 1
    ) -> ProtobufBytes {
        let metadata = ProtobufBytes.none.number(1, kind).number(2, offset).number(3, length)
        return .layout().repeating(times) { $0.message(3, metadata) }
    }

    static let metadataCases: [BrokenRule] = [
        rule("no kind", metadata(0), "Enclosure.kind", .unknownValue),
        rule("no bytes", metadata(2, length: 0), "PixelLayout.enclosures"),
        rule(
            "a profile of 4 MiB and a byte", metadata(1, length: 4 << 20 | 1),
            "PixelLayout.enclosures"),
        rule("EXIF of 65,501 bytes", metadata(2, length: 65_501), "PixelLayout.enclosures"),
        rule("one twice", metadata(3, times: 2), "PixelLayout.enclosures"),
        rule("five", metadata(3, times: 5), "PixelLayout.enclosures", .tooMany(limit: 4)),
        rule("one beyond its block", metadata(3, offset: 1 << 40), "Frame.layout"),
    ]

    @Test(arguments: sampleCases + metadataCases) func whatBreaksARuleIsNamed(_ broken: BrokenRule)
    {
        broken.isReported { try $0.workerMessage() }
    }
}
