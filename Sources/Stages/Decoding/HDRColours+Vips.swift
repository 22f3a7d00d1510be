import ImageModel
import Vips

extension HDRColours {
    /// What a file says by numbers, else in its profile; `nil` for other colours.
    init?(_ stated: StatedColors?, _ image: VipsImage) {
        let header = image.header
        guard header.samples == .whole, header.bands <= 4,
            [.grey, .grey16, .rgb, .rgb16].contains(header.colour)
        else { return nil }
        let byNumbers = stated.flatMap { HDRColours($0) }
        let byProfile = image.withProfile {
            HDRColours(profile: HeaderBytes(Span(_unsafeBytes: $0)))
        }
        let found = stated?.outranksProfile == true ? byNumbers : byNumbers ?? byProfile ?? nil
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
