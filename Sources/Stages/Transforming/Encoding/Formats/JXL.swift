import ImageModel
import StageContract
import Vips

/// JPEG XL, by libvips, which writes a profile and no metadata.
struct JXLFormatEncoder: FormatEncoder {
    let format = ImageFormat.jxl

    /// Below, libjxl has no distance for what libvips makes of a quality.
    private static let qualityMin = 5

    func encode(
        _ image: VipsImage, _ order: EncodingOrder, to writer: BlockWriter<some OutputSpace>
    ) throws -> Bool {
        let profile = order.enclosed.profile
        let enclosing = try image.enclosing(profile: profile, xmp: [])
        do throws(VipsError) {
            try save(enclosing, order, encloses: !profile.isEmpty, to: writer)
            return image.header.hasAlpha
        } catch {
            guard error.kind == .internal, !profile.isEmpty else { throw error }
        }
        // libjxl has no words for some profiles: the colours are converted as usual.
        writer.restart()
        let isPerceptual = profile.withUnsafeBytes {
            SampleProfile($0, for: order.enclosed.space)?.isPerceptualOnly ?? false
        }
        let converted = try enclosing.convertedToSRGBByProfile(isPerceptual: isPerceptual)
        try save(converted, order, encloses: false, to: writer)
        return image.header.hasAlpha
    }

    private func save(
        _ image: VipsImage, _ order: EncodingOrder, encloses: Bool,
        to writer: BlockWriter<some OutputSpace>
    ) throws(VipsError) {
        try image.save(
            .jxl(
                quality: max(Self.qualityMin, order.quality),
                lossless: order.options.isWithoutLoss, effort: order.effort(format),
                encloses: encloses)
        ) { writer.append($0) }
    }
}
