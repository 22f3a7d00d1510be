import Model
import Testing

@testable import Wire

/// Samples of more than 8 bits fit their declared layout and have known color properties.
@Suite struct SampleLimitTests {
    private static func pixels(
        bits: UInt64?, bands: UInt64 = 3, stride: UInt64 = 12, offset: UInt64 = 0, planes: Int = 1,
        hdr: (primaries: UInt64, transfer: UInt64)? = nil
    ) -> ProtobufBytes {
        var layout = MessageLimitTests.layout(
            bands: bands, offset: offset, stride: stride, planes: planes)
        if let bits { layout = layout.number(4, bits) }
        if let hdr {
            let colors = ProtobufBytes().number(1, hdr.primaries).number(2, hdr.transfer)
            layout = layout.message(5, colors)
        }
        return MessageLimitTests.pixels(layout)
    }

    private typealias Case = MessageLimitTests.Case

    private static let cases: [Case] = [
        Case(
            "17 bits", .outcome, pixels(bits: 17), "PixelLayout.sample_bits", .outOfRange),
        Case("7 bits", .outcome, pixels(bits: 7), "PixelLayout.sample_bits", .outOfRange),
        Case(
            "rows too short for 16 bits", .outcome, pixels(bits: 16, stride: 10),
            "PixelPlane.stride", .outOfRange),
        Case(
            "rows at odd bytes", .outcome, pixels(bits: 9, stride: 13), "PixelPlane.stride",
            .outOfRange),
        Case(
            "samples at odd bytes", .outcome, pixels(bits: 9, offset: 1), "PixelPlane.stride",
            .outOfRange),
        Case(
            "planes of 16 bits", .outcome, pixels(bits: 16, bands: 1, planes: 3),
            "PixelLayout.planes", .outOfRange),
        Case(
            "a high range in 8 bits", .outcome, pixels(bits: nil, hdr: (9, 16)),
            "PixelLayout.planes", .outOfRange),
        Case(
            "a high range of grey", .outcome, pixels(bits: 10, bands: 1, hdr: (9, 16)),
            "PixelLayout.planes", .outOfRange),
        Case(
            "unknown primaries", .outcome, pixels(bits: 10, hdr: (2, 16)),
            "HDRColours.primaries", .unknownValue),
        Case(
            "an unknown transfer", .outcome, pixels(bits: 10, hdr: (9, 13)),
            "HDRColours.transfer", .unknownValue),
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
