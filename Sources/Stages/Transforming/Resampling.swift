import ImageModel
import Vips
import Zimg

/// Maps a part of interleaved pixels, given in fractions of a pixel, to exactly so many pixels,
/// band by band; colours are multiplied by alpha for it where not every pixel is opaque.
struct Resampling {
    let active: ActiveRegion
    let target: PixelSize
    /// Any alpha band is 255 everywhere.
    let isOpaque: Bool
    let sampler: PlaneSampler

    func apply(to image: VipsImage) throws -> VipsImage {
        let header = image.header
        guard !isIdentity(header) else { return image }
        let isMixed = header.hasAlpha && !isOpaque
        let planes = try image.withPixels { pixels throws(VipsError) in
            Result { () throws(ZimgError) in
                try Self.planes(pixels, header, premultiplied: isMixed)
            }
        }.get()
        let sampled = try planes.map { try sampler.sample($0, active, to: target) }
        let pixels = try InterleavedPixels(
            joining: sampled, premultiplied: isMixed, isDeep: header.bytesPerBand == 2)
        return try pixels.image(sampler.cancellation)
    }

    private func isIdentity(_ header: VipsHeader) -> Bool {
        target == PixelSize(width: header.width, height: header.height)
            && active == ActiveRegion(width: Double(target.width), height: Double(target.height))
    }

    private static func planes(
        _ pixels: UnsafeRawBufferPointer, _ header: VipsHeader, premultiplied: Bool
    ) throws(ZimgError) -> [Plane] {
        let size = PixelSize(width: header.width, height: header.height)
        let isDeep = header.bytesPerBand == 2
        let depth = premultiplied || isDeep ? 2 : 1
        let planes = (0..<header.bands).map { _ in Plane(size, depth: depth) }
        let targets = planes.map(\.target)
        let stride = header.width * header.bands * header.bytesPerBand
        if isDeep {
            try Interleaving.separateDeep(
                pixels, stride: stride, width: size.width, height: size.height, into: targets,
                premultiplied: premultiplied)
        } else if premultiplied {
            try Interleaving.premultiply(
                pixels, stride: stride, width: size.width, height: size.height, into: targets)
        } else {
            try Interleaving.separate(
                pixels, stride: stride, width: size.width, height: size.height, into: targets)
        }
        return planes
    }
}
