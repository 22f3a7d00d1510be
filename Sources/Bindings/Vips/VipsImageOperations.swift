internal import CVipsShims

extension VipsImage {
    /// The part of `width` × `height` pixels whose top left corner is at `left`, `top`; it must
    /// lie within the image.
    public func extracted(
        left: Int, top: Int, width: Int, height: Int
    ) throws(VipsError) -> VipsImage {
        try derive("extract_area") {
            cvips_extract($0, CInt(left), CInt(top), CInt(width), CInt(height), $1)
        }
    }

    /// This image at `left`, `top` of a canvas, whose rest is `background`: one value for each
    /// band.
    public func embedded(
        left: Int, top: Int, width: Int, height: Int, background: [Double]
    ) throws(VipsError) -> VipsImage {
        try derive("embed") {
            cvips_embed(
                $0, CInt(left), CInt(top), CInt(width), CInt(height), background,
                CInt(background.count), $1)
        }
    }

    /// What is repeated over the canvas around an image.
    public enum Edge: Int, Sendable {
        /// The pixels of its edge, the image, or the image mirrored at each edge.
        case copy, `repeat`, mirror
    }

    /// This image at `left`, `top` of a canvas, over whose rest it is repeated; its pixels must be
    /// in memory already, or be cheap to compute in any order, unless the edge is copied.
    public func extended(
        left: Int, top: Int, width: Int, height: Int, by edge: Edge = .copy
    ) throws(VipsError) -> VipsImage {
        try derive("embed") {
            cvips_extend(
                $0, CInt(left), CInt(top), CInt(width), CInt(height), CInt(edge.rawValue), $1)
        }
    }

    /// Turned clockwise by so many quarters of a turn; any integer. The pixels must be in memory
    /// already, or be cheap to compute in any order.
    public func rotated(quarters: Int) throws(VipsError) -> VipsImage {
        try derive("rot") { cvips_rotate($0, CInt(quarters & 3), $1) }
    }

    /// Left and right exchanged.
    public func flippedHorizontally() throws(VipsError) -> VipsImage {
        try derive("flip") { cvips_flip_horizontal($0, $1) }
    }

    /// Top and bottom exchanged. The order of rows changes: see `rotated`.
    public func flippedVertically() throws(VipsError) -> VipsImage {
        try derive("flip") { cvips_flip_vertical($0, $1) }
    }
}

extension VipsImage {
    /// Fewer columns, by Lanczos 3: `round(width / factor)` of them.
    ///
    /// libvips centres the result: where `width` is not a multiple of `factor`, it is shifted by
    /// half of `round(width / factor) × factor − width` columns of this image.
    ///
    /// - Parameters:
    ///   - factor: at least 1.
    ///   - gap: a box filter first makes the image smaller by an integer, where `factor` is at
    ///     least twice this; at least 1. 2 is libvips' default, and close to none.
    public func reducedHorizontally(
        by factor: Double, gap: Double = 2
    ) throws(VipsError) -> VipsImage {
        try derive("reduceh") { cvips_reduce_h($0, factor, gap, $1) }
    }

    /// Fewer rows, as `reducedHorizontally`.
    public func reducedVertically(
        by factor: Double, gap: Double = 2
    ) throws(VipsError) -> VipsImage {
        try derive("reducev") { cvips_reduce_v($0, factor, gap, $1) }
    }

    /// More columns and rows, bicubic, the edge pixels repeated.
    ///
    /// - Parameters:
    ///   - horizontal: at least 1, or so little less that nothing is lost: there is no low-pass.
    ///   - vertical: the same for rows.
    ///   - left: where the left edge of the result lies in this image, in fractions of a pixel.
    ///   - top: where its top edge lies.
    ///   - width: columns of the result.
    ///   - height: rows of the result.
    public func enlarged(
        horizontally horizontal: Double, vertically vertical: Double, left: Double = 0,
        top: Double = 0, width: Int, height: Int
    ) throws(VipsError) -> VipsImage {
        try derive("affine") {
            cvips_enlarge($0, horizontal, vertical, left, top, CInt(width), CInt(height), $1)
        }
    }

    /// sRGB of 8 bits with alpha in exactly so many pixels, no more than there are; colours weigh
    /// as much as they are seen.
    public func miniature(width: Int, height: Int) throws(VipsError) -> VipsImage {
        try derive("thumbnail") { cvips_miniature($0, CInt(width), CInt(height), $1) }
    }
}

extension VipsImage {
    /// sRGB of 8 bits, or of 16 where it is to be deep, by what the header says of the colours; an
    /// embedded profile is ignored. An alpha band stays.
    public func convertedToSRGB(isDeep: Bool = false) throws(VipsError) -> VipsImage {
        try derive("colourspace") { cvips_to_srgb($0, isDeep ? 1 : 0, $1) }
    }

    /// Grey with the tone curve of sRGB; as `convertedToSRGB`.
    public func convertedToGrey(isDeep: Bool = false) throws(VipsError) -> VipsImage {
        try derive("colourspace") { cvips_to_grey($0, isDeep ? 1 : 0, $1) }
    }

    /// The first `count` of its bands.
    public func firstBands(_ count: Int) throws(VipsError) -> VipsImage {
        try derive("extract_band") { cvips_first_bands($0, CInt(count), $1) }
    }

    /// sRGB by the embedded profile, in as many bits (8 or 16) as this image has. An alpha band
    /// stays. If there is no profile, or it lacks the intent, libvips takes one of its own: sRGB,
    /// or a general one for CMYK.
    ///
    /// - Parameter isPerceptual: whether the intent is perceptual, instead of relative
    ///   colorimetric.
    /// - Throws: `internal` if libvips has no profile for these colors.
    public func convertedToSRGBByProfile(
        isPerceptual: Bool = false
    ) throws(VipsError) -> VipsImage {
        try derive("icc_transform") { cvips_profile_to_srgb($0, isPerceptual ? 1 : 0, $1) }
    }

    /// Red, green and blue of three bands of 8 bits that are Y, Cb and Cr as in JFIF, whatever the
    /// header says.
    public func convertedFromYCbCr() throws(VipsError) -> VipsImage {
        try derive("recomb") { cvips_ycbcr_to_srgb($0, $1) }
    }
}

/// What the samples of an image of a high dynamic range mean.
public struct VipsHDR: Sendable {
    /// How samples become light.
    public enum Transfer: Sendable {
        /// SMPTE ST 2084.
        case pq
        /// ARIB STD-B67, as a display of so many candela per square metre shows it.
        case hlg(peakNits: Double)
    }

    private let transfer: Transfer
    private let toSRGB: [[Double]]
    private let luminance: [Double]
    private let whiteNits: Double

    /// - Parameters:
    ///   - transfer: how samples become light.
    ///   - toSRGB: three rows, each linear colour of sRGB in those of the image.
    ///   - luminance: what each colour of the image adds to it.
    ///   - whiteNits: candela per square metre of what becomes white.
    public init(
        _ transfer: Transfer, toSRGB: [[Double]], luminance: [Double], whiteNits: Double
    ) {
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
    /// sRGB of 8 bits, or of 16 where that is wanted. What is brighter than `whiteNits`, or no
    /// colour of sRGB, is cut off. An alpha band stays.
    ///
    /// - Parameter whole: the number that a sample of 1 is, in 8 or 16 bits.
    public func convertedToSRGB(
        of hdr: VipsHDR, whole: Int, isDeep: Bool
    ) throws(VipsError) -> VipsImage {
        try derive("hdr") {
            cvips_hdr_to_srgb($0, hdr.shim(whole: Double(whole)), isDeep ? 1 : 0, $1)
        }
    }

    /// The same in 16 bits, all of which are used: `whole`, and its alpha, become 65,535.
    public func widened(whole: Int) throws(VipsError) -> VipsImage {
        try derive("widen") { cvips_widen($0, Double(whole), $1) }
    }

    /// Such 16 bits in 8, rounded.
    public func narrowed() throws(VipsError) -> VipsImage {
        try derive("narrow") { cvips_narrow($0, $1) }
    }
}

extension VipsImage {
    /// The same without its alpha band where each sample of it is `least` or more; computes all
    /// pixels. Colours stay as they are.
    ///
    /// - Throws: as `withPixels`.
    public func withoutAlpha(whereAllIsAtLeast least: UInt8) throws(VipsError) -> VipsImage {
        let bands = header.bands
        guard header.hasAlpha else { return self }
        let isOpaque = try withPixels { pixels in
            stride(from: bands - 1, to: pixels.count, by: bands).allSatisfy { pixels[$0] >= least }
        }
        return isOpaque ? try firstBands(bands - 1) : self
    }

    /// Without alpha, on an opaque background; components are 0 to 255, of which a grey image
    /// takes the first.
    public func flattened(
        red: Double, green: Double, blue: Double
    ) throws(VipsError) -> VipsImage {
        try derive("flatten") { cvips_flatten($0, red, green, blue, $1) }
    }

    /// With colours that are not multiplied by alpha, of an image whose colours are; in as many
    /// bits. The last band is alpha.
    public func unpremultiplied() throws(VipsError) -> VipsImage {
        try derive("unpremultiply") { cvips_unpremultiply($0, $1) }
    }

    /// With an opaque alpha band.
    public func withAlpha() throws(VipsError) -> VipsImage {
        try derive("addalpha") { cvips_add_alpha($0, $1) }
    }
}

extension VipsImage {
    /// With another image over it, whose top left corner is at `left`, `top`; it must lie within
    /// this one. sRGB of 8 bits, with alpha where this image has it.
    ///
    /// The pixels of both must be in memory already, or be cheap to compute in any order.
    ///
    /// - Parameter opacity: what is left of the alpha of `layer`, 0 to 1.
    public func overlaid(
        by layer: VipsImage, left: Int, top: Int, opacity: Double
    ) throws(VipsError) -> VipsImage {
        let owners = ImageOwners(first: owner, second: layer.owner)
        return try withExtendedLifetime((self, layer)) { () throws(VipsError) -> VipsImage in
            try Self.make("composite2", owner: owners) { out in
                cvips_overlay(
                    pointer, layer.pointer, CInt(left), CInt(top), opacity, out)
            }
        }
    }
}

/// Who owns the bytes of two images that became one.
private final class ImageOwners {
    private let first: AnyObject?
    private let second: AnyObject?

    init(first: AnyObject?, second: AnyObject?) {
        (self.first, self.second) = (first, second)
    }
}

extension VipsImage {
    /// Each colour as a sum of the three of sRGB, or grey as one; an alpha band stays.
    ///
    /// - Parameter rows: three factors each; three rows, or one for grey.
    public func mixed(_ rows: [[Double]]) throws(VipsError) -> VipsImage {
        let factors = rows.flatMap(\.self)
        return try derive("recomb") { cvips_mix($0, factors, CInt(rows.count), $1) }
    }

    /// Each sample of a colour by a table of 256; an alpha band stays.
    public func mapped(_ curve: [UInt8]) throws(VipsError) -> VipsImage {
        precondition(curve.count == 256)
        return try derive("maplut") { cvips_map($0, curve, $1) }
    }

    /// Blurred by a Gaussian, the edge pixels repeated. The pixels must be in memory already, as
    /// for all that follows.
    public func blurred(sigma: Double) throws(VipsError) -> VipsImage {
        try derive("gaussblur") { cvips_blur($0, sigma, $1) }
    }

    /// Twice the image without what a blur of it shows.
    public func sharpened(sigma: Double) throws(VipsError) -> VipsImage {
        try derive("unsharp") { cvips_unsharp($0, sigma, $1) }
    }

    /// Squares of one colour, from the top left corner on, the edge pixels repeated.
    public func pixelated(side: Int) throws(VipsError) -> VipsImage {
        try derive("shrink") { cvips_pixelate($0, CInt(side), $1) }
    }

    /// Turned counter-clockwise about its centre onto the centre of a transparent canvas; the
    /// image has an alpha band.
    public func turned(
        radians: Double, width: Int, height: Int
    ) throws(VipsError) -> VipsImage {
        try derive("affine") { cvips_turn($0, radians, CInt(width), CInt(height), $1) }
    }

    /// The part of that size, at most that of the image, which is most striking.
    ///
    /// - Parameter byEntropy: which shows most instead.
    public func smartCropped(
        width: Int, height: Int, byEntropy: Bool
    ) throws(VipsError) -> VipsImage {
        try derive("smartcrop") {
            cvips_smart_crop($0, CInt(width), CInt(height), byEntropy ? 1 : 0, $1)
        }
    }
}

extension VipsImage {
    /// The same as pages one below the other, which a GIF is written with as frames.
    ///
    /// - Parameters:
    ///   - pageHeight: rows of each.
    ///   - delays: milliseconds for which each is shown; one for each page.
    ///   - plays: how often all are played, 0: without end. libvips writes one repetition less, and
    ///     nothing for 1.
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
