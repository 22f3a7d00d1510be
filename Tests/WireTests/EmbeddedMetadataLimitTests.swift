import Model
import Testing

@testable import Wire

/// Metadata beside pixels is within its limits, and inside the pixels' block.
@Suite struct EmbeddedMetadataLimitTests {
    private static func embedded(
        _ kind: UInt64, offset: UInt64 = 0, length: UInt64 = 1
    ) -> ProtobufBytes {
        ProtobufBytes().number(1, kind).number(2, offset).number(3, length)
    }

    private static func pixels(_ embedded: ProtobufBytes, times: Int = 1) -> ProtobufBytes {
        let layout = MessageLimitTests.layout().repeating(times) { $0.message(3, embedded) }
        return MessageLimitTests.pixels(layout)
    }

    private typealias Case = MessageLimitTests.Case

    private static let cases: [Case] = [
        Case("no kind", .outcome, pixels(embedded(0)), "Enclosure.kind", .unknownValue),
        Case(
            "no bytes", .outcome, pixels(embedded(2, length: 0)), "PixelLayout.enclosures",
            .outOfRange),
        Case(
            "a profile of 4 MiB and a byte", .outcome,
            pixels(embedded(1, length: 4 << 20 | 1)), "PixelLayout.enclosures", .outOfRange),
        Case(
            "EXIF of 65,501 bytes", .outcome, pixels(embedded(2, length: 65_501)),
            "PixelLayout.enclosures", .outOfRange),
        Case(
            "one twice", .outcome, pixels(embedded(3), times: 2), "PixelLayout.enclosures",
            .outOfRange),
        Case(
            "five", .outcome, pixels(embedded(3), times: 5), "PixelLayout.enclosures",
            .tooMany(limit: 4)),
        Case(
            "one beyond its block", .outcome, pixels(embedded(3, offset: 1 << 40)),
            "Frame.layout", .outOfRange),
    ]

    @Test func whatBreaksARuleIsNamed() {
        for broken in Self.cases {
            let frames = Frames(
                header: FrameHeader(kind: broken.kind).bytes, body: broken.body.bytes)
            #expect(throws: WireError.field(broken.fault, token: nil), "\(broken)") {
                try frames.workerMessage()
            }
        }
    }
}
