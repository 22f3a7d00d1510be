import ImageModel
import Vips

extension HDRColours {
    /// What a file says by numbers, else in its profile; `nil` for other colours.
    init?(of file: UnsafeRawBufferPointer, _ format: ImageFormat, _ image: VipsImage) {
        let header = image.header
        guard header.samples == .whole, header.bands <= 4,
            [.grey, .grey16, .rgb, .rgb16].contains(header.colour)
        else { return nil }
        let stored = format.traits.storedHDR?(HeaderBytes(Span(_unsafeBytes: file)))
        let found =
            stored
            ?? image.withProfile { HDRColours(profile: HeaderBytes(Span(_unsafeBytes: $0))) } ?? nil
        guard let found else { return nil }
        self = found
    }

    /// The same in the words of who converts it.
    var conversion: VipsHDR {
        VipsHDR(
            transfer == .pq ? .pq : .hlg(peakNits: Self.nominalPeakNits),
            toSRGB: primaries.toSRGB, luminance: primaries.luminance, whiteNits: Self.whiteNits)
    }
}
