internal import CVipsShims

extension VipsImage {
    /// Returns the region of `width` × `height` pixels whose top left corner is at `left`, `top`.
    /// It must lie within the image.
    public func extracted(
        left: Int, top: Int, width: Int, height: Int
    ) throws(VipsError) -> VipsImage {
        try derive("extract_area") {
            cvips_extract($0, CInt(left), CInt(top), CInt(width), CInt(height), $1)
        }
    }

    /// Returns this image placed at `left`, `top` on a canvas filled with `background`, which has
    /// one value per band.
    public func embedded(
        left: Int, top: Int, width: Int, height: Int, background: [Double]
    ) throws(VipsError) -> VipsImage {
        try derive("embed") {
            cvips_embed(
                $0, CInt(left), CInt(top), CInt(width), CInt(height), background,
                CInt(background.count), $1)
        }
    }

    /// How the canvas around an image is filled.
    public enum Edge: Int, Sendable {
        /// With the edge pixels, with the repeated image, or with the image mirrored at each edge.
        case copy, `repeat`, mirror
    }

    /// Returns this image placed at `left`, `top` on a canvas whose rest is filled according to
    /// `edge`. Its pixels must be in memory, or be cheap to compute in any order, unless the edge
    /// is copied.
    public func extended(
        left: Int, top: Int, width: Int, height: Int, by edge: Edge = .copy
    ) throws(VipsError) -> VipsImage {
        try derive("embed") {
            cvips_extend(
                $0, CInt(left), CInt(top), CInt(width), CInt(height), CInt(edge.rawValue), $1)
        }
    }

    /// Rotates clockwise by any number of quarter turns. The pixels must be in memory, or be cheap
    /// to compute in any order.
    public func rotated(quarters: Int) throws(VipsError) -> VipsImage {
        try derive("rot") { cvips_rotate($0, CInt(quarters & 3), $1) }
    }

    /// Mirrors left and right.
    public func flippedHorizontally() throws(VipsError) -> VipsImage {
        try derive("flip") { cvips_flip_horizontal($0, $1) }
    }

    /// Mirrors top and bottom. This changes the order of rows: see `rotated`.
    public func flippedVertically() throws(VipsError) -> VipsImage {
        try derive("flip") { cvips_flip_vertical($0, $1) }
    }
}

extension VipsImage {
    /// Reduces the width to `round(width / factor)` columns with a Lanczos 3 filter.
    ///
    /// libvips centers the result: if `width` isn't a multiple of `factor`, it's shifted by half of
    /// `round(width / factor) × factor − width` columns of this image.
    ///
    /// - Parameters:
    ///   - factor: at least 1.
    ///   - gap: a box filter first shrinks the image by an integer if `factor` is at least twice
    ///     this value. At least 1; 2, libvips' default, hardly differs from no box filter.
    public func reducedHorizontally(
        by factor: Double, gap: Double = 2
    ) throws(VipsError) -> VipsImage {
        try derive("reduceh") { cvips_reduce_h($0, factor, gap, $1) }
    }

    /// Reduces the height like `reducedHorizontally`.
    public func reducedVertically(
        by factor: Double, gap: Double = 2
    ) throws(VipsError) -> VipsImage {
        try derive("reducev") { cvips_reduce_v($0, factor, gap, $1) }
    }

    /// Enlarges with a bicubic filter, repeating the edge pixels.
    ///
    /// - Parameters:
    ///   - horizontal: at least 1, or only slightly less, since there is no low-pass filter.
    ///   - vertical: the same for rows.
    ///   - left: the position of the result's left edge in this image, in fractions of a pixel.
    ///   - top: the position of its top edge.
    ///   - width: the width of the result in pixels.
    ///   - height: the height of the result in pixels.
    public func enlarged(
        horizontally horizontal: Double, vertically vertical: Double, left: Double = 0,
        top: Double = 0, width: Int, height: Int
    ) throws(VipsError) -> VipsImage {
        try derive("affine") {
            cvips_enlarge($0, horizontal, vertical, left, top, CInt(width), CInt(height), $1)
        }
    }

    /// Reduces to exactly this size in 8-bit sRGB with alpha. The size must not exceed the image's.
    /// Colors are weighted by their alpha.
    public func miniature(width: Int, height: Int) throws(VipsError) -> VipsImage {
        try derive("thumbnail") { cvips_miniature($0, CInt(width), CInt(height), $1) }
    }
}

extension VipsImage {
    /// Converts to sRGB with 8 bits, or 16 if `isDeep`, according to the header's color space. An
    /// embedded profile is ignored. Alpha is kept.
    public func convertedToSRGB(isDeep: Bool = false) throws(VipsError) -> VipsImage {
        try derive("colourspace") { cvips_to_srgb($0, isDeep ? 1 : 0, $1) }
    }

    /// Converts to gray with the sRGB tone curve, like `convertedToSRGB`.
    public func convertedToGray(isDeep: Bool = false) throws(VipsError) -> VipsImage {
        try derive("colourspace") { cvips_to_gray($0, isDeep ? 1 : 0, $1) }
    }

    /// Returns the first `count` bands. Throws if the image has fewer.
    public func firstBands(_ count: Int) throws(VipsError) -> VipsImage {
        try derive("extract_band") { cvips_first_bands($0, CInt(count), $1) }
    }

    /// Converts to sRGB using the embedded profile, keeping the bit depth (8 or 16) and alpha. If
    /// there is no profile, or it lacks the intent, libvips uses one of its own: sRGB, or a generic
    /// one for CMYK.
    ///
    /// - Parameter isPerceptual: whether to use the perceptual intent instead of the relative
    ///   colorimetric one.
    /// - Throws: `internal` if libvips has no profile for these colors.
    public func convertedToSRGBByProfile(
        isPerceptual: Bool = false
    ) throws(VipsError) -> VipsImage {
        try derive("icc_transform") { cvips_profile_to_srgb($0, isPerceptual ? 1 : 0, $1) }
    }

    /// Converts three 8-bit bands that are JFIF Y, Cb and Cr to RGB, regardless of the header.
    public func convertedFromYCbCr() throws(VipsError) -> VipsImage {
        try derive("recomb") { cvips_ycbcr_to_srgb($0, $1) }
    }
}

/// The meaning of samples in a high dynamic range image.
public struct VipsHDR: Sendable {
    /// The transfer function that maps samples to light.
    public enum Transfer: Sendable {
        /// SMPTE ST 2084.
        case pq
        /// ARIB STD-B67, for a display with this peak luminance in candela per square meter.
        case hlg(peakNits: Double)
    }

    private let transfer: Transfer
    private let toSRGB: [[Double]]
    private let luminance: [Double]
    private let whiteNits: Double

    /// Creates an HDR description.
    ///
    /// - Parameters:
    ///   - transfer: the transfer function.
    ///   - toSRGB: three rows, each giving a linear sRGB component as a combination of the image's.
    ///   - luminance: the contribution of each of the image's components to luminance.
    ///   - whiteNits: the luminance that becomes white, in candela per square meter.
    public init(_ transfer: Transfer, toSRGB: [[Double]], luminance: [Double], whiteNits: Double) {
        precondition(toSRGB.count == 3 && toSRGB.allSatisfy { $0.count == 3 })
        precondition(luminance.count == 3)
        (self.transfer, self.toSRGB) = (transfer, toSRGB)
        (self.luminance, self.whiteNits) = (luminance, whiteNits)
    }

    fileprivate func shim(whole: Double) -> cvips_hdr {
        var hdr = cvips_hdr()
        switch transfer {
        case .pq: hdr.is_pq = 1
        case .hlg(let peakNits): hdr.peak = peakNits
        }
        hdr.whole = whole
        hdr.white = whiteNits
        let rows = toSRGB.flatMap(\.self)
        withUnsafeMutableBytes(of: &hdr.to_srgb) { $0.copyBytes(from: rows.rawBytes) }
        withUnsafeMutableBytes(of: &hdr.luminance) { $0.copyBytes(from: luminance.rawBytes) }
        return hdr
    }
}

extension [Double] {
    fileprivate var rawBytes: [UInt8] { withUnsafeBytes { Array<UInt8>($0) } }
}

extension VipsImage {
    /// Converts to sRGB with 8 bits, or 16 if `isDeep`. Values brighter than `whiteNits` or outside
    /// the sRGB gamut are clipped. Alpha is kept.
    ///
    /// - Parameter whole: the integer sample that represents 1, in 8 or 16 bits.
    public func convertedToSRGB(
        of hdr: VipsHDR, whole: Int, isDeep: Bool
    ) throws(VipsError) -> VipsImage {
        try derive("hdr") {
            cvips_hdr_to_srgb($0, hdr.shim(whole: Double(whole)), isDeep ? 1 : 0, $1)
        }
    }

    /// Widens samples to the full 16-bit range: `whole`, also in alpha, becomes 65,535.
    public func widened(whole: Int) throws(VipsError) -> VipsImage {
        try derive("widen") { cvips_widen($0, Double(whole), $1) }
    }

    /// Reduces full-range 16-bit samples to 8 bits, rounded.
    public func narrowed() throws(VipsError) -> VipsImage {
        try derive("narrow") { cvips_narrow($0, $1) }
    }
}

extension VipsImage {
    /// Returns the image without alpha if every alpha sample is at least `least`. Computes all
    /// pixels. Colors are unchanged.
    ///
    /// - Throws: the errors of `withPixels`.
    public func withoutAlpha(whereAllIsAtLeast least: UInt8) throws(VipsError) -> VipsImage {
        let bands = header.bands
        guard header.hasAlpha else { return self }
        let isOpaque = try withPixels { pixels in
            stride(from: bands - 1, to: pixels.count, by: bands).allSatisfy { pixels[$0] >= least }
        }
        return isOpaque ? try firstBands(bands - 1) : self
    }

    /// Flattens alpha onto an opaque background. Components are 0 to 255; a gray image uses only
    /// the first.
    public func flattened(red: Double, green: Double, blue: Double) throws(VipsError) -> VipsImage {
        try derive("flatten") { cvips_flatten($0, red, green, blue, $1) }
    }

    /// Converts premultiplied colors to straight alpha, keeping the bit depth. The last band is
    /// alpha.
    public func unpremultiplied() throws(VipsError) -> VipsImage {
        try derive("unpremultiply") { cvips_unpremultiply($0, $1) }
    }

    /// Adds an opaque alpha band.
    public func withAlpha() throws(VipsError) -> VipsImage {
        try derive("addalpha") { cvips_add_alpha($0, $1) }
    }
}

extension VipsImage {
    /// Composites another image over this one with its top left corner at `left`, `top`. It must
    /// lie within this image. The result is 8-bit sRGB, with alpha if this image has it.
    ///
    /// The pixels of both images must be in memory, or be cheap to compute in any order.
    ///
    /// - Parameter opacity: the factor for the alpha of `layer`, 0 to 1.
    public func overlaid(
        by layer: VipsImage, left: Int, top: Int, opacity: Double
    ) throws(VipsError) -> VipsImage {
        let owners = ImageOwners(first: owner, second: layer.owner)
        defer { withExtendedLifetime(layer) {} }
        return try derive("composite2", owner: owners) {
            cvips_overlay($0, layer.pointer, CInt(left), CInt(top), opacity, $1)
        }
    }
}

/// Retains the owners of two images that were combined.
private final class ImageOwners {
    private let first: AnyObject?
    private let second: AnyObject?

    init(first: AnyObject?, second: AnyObject?) {
        (self.first, self.second) = (first, second)
    }
}

extension VipsImage {
    /// Applies a matrix to the colors. Alpha is kept.
    ///
    /// - Parameters:
    ///   - rows: three factors and an offset each; three rows for color, or one for gray.
    ///   - isLab: whether they apply to CIELAB (D65) instead of sRGB samples from 0 to 255. This
    ///     needs three rows.
    public func mixed(_ rows: [[Double]], isLab: Bool = false) throws(VipsError) -> VipsImage {
        precondition([1, 3].contains(rows.count) && rows.allSatisfy { $0.count == 4 })
        let terms = rows.flatMap(\.self)
        return try derive("recomb") {
            cvips_mix($0, terms, CInt(rows.count), isLab ? 1 : 0, $1)
        }
    }

    /// Maps each color sample through a table of 256 entries. Alpha is kept.
    public func mapped(_ curve: [UInt8]) throws(VipsError) -> VipsImage {
        precondition(curve.count == 256)
        return try derive("maplut") { cvips_map($0, curve, $1) }
    }

    /// Applies a Gaussian blur, repeating the edge pixels. The pixels must be in memory, as for all
    /// operations below.
    public func blurred(sigma: Double) throws(VipsError) -> VipsImage {
        try derive("gaussblur") { cvips_blur($0, sigma, $1) }
    }

    /// Applies an unsharp mask: adds `amount` times the difference from a blurred copy.
    public func sharpened(sigma: Double, amount: Double) throws(VipsError) -> VipsImage {
        try derive("unsharp") { cvips_unsharp($0, sigma, amount, $1) }
    }

    /// Pixelates into squares of one color, starting at the top left corner and repeating the edge
    /// pixels.
    public func pixelated(side: Int) throws(VipsError) -> VipsImage {
        try derive("shrink") { cvips_pixelate($0, CInt(side), $1) }
    }

    /// Rotates counterclockwise about the image's center onto the center of a transparent canvas.
    /// The image must have an alpha band.
    public func turned(radians: Double, width: Int, height: Int) throws(VipsError) -> VipsImage {
        try derive("affine") { cvips_turn($0, radians, CInt(width), CInt(height), $1) }
    }

    /// Returns the most salient region of this size, which is at most the image's.
    ///
    /// - Parameter byEntropy: whether to select by entropy instead.
    public func smartCropped(
        width: Int, height: Int, byEntropy: Bool
    ) throws(VipsError) -> VipsImage {
        try derive("smartcrop") {
            cvips_smart_crop($0, CInt(width), CInt(height), byEntropy ? 1 : 0, $1)
        }
    }
}

extension VipsImage {
    /// Marks the image as a vertical stack of pages, which are written to a GIF as frames.
    ///
    /// - Parameters:
    ///   - pageHeight: the rows of each page.
    ///   - delays: how long each page is shown, in milliseconds.
    ///   - plays: how often the animation is played; 0 means endlessly. libvips writes one
    ///     repetition less, and nothing for 1.
    public func animated(
        pageHeight: Int, delays: [Int], plays: Int
    ) throws(VipsError) -> VipsImage {
        let numbers = delays.map { CInt(clamping: $0) }
        return try derive("animated") { image, out in
            cvips_animated(
                image, CInt(clamping: pageHeight), numbers, CInt(clamping: numbers.count),
                CInt(clamping: plays), out)
        }
    }
}
