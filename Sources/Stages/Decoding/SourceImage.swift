import CodecSupport
import Model
import Vips

/// Encoded bytes with a parsed header.
struct SourceImage {
    let bytes: UnsafeRawBufferPointer
    let decoder: any FormatDecoder
    /// Notified of missing pixels if the file ends early or is damaged; `nil` for a whole one.
    let missing: MissingPixels?
    let header: VipsHeader
    /// The total number of frames or pages.
    private(set) var pages: Int
    /// The decoded size before cropping, if the image may be cropped.
    let codedSize: PixelSize?
    /// The profile of its samples: its own, or one derived from numeric color information; `nil`
    /// for sRGB without a profile.
    let profile: SampleProfile?
    /// Whether its colors represent sRGB only after a conversion by its profile.
    private(set) var needsProfile: Bool
    /// The meaning of its samples if they exceed SDR white.
    private(set) var hdr: HDRColors?
    /// The number of used bits per sample.
    let bits: Int
    /// The size of profile, EXIF, XMP and other texts in bytes.
    let metadataBytes: Int
    /// The orientation stated by the file: in EXIF, else in XMP.
    let statedOrientation: Int?
    /// The orientation that remains to be applied to the pixels.
    let orientation: Orientation

    /// Reads the header.
    init(
        _ bytes: UnsafeRawBufferPointer, by decoder: any FormatDecoder,
        noting missing: MissingPixels? = nil
    ) throws {
        (self.bytes, self.decoder, self.missing) = (bytes, decoder, missing)
        let image = try Self.header(bytes, by: decoder, missing)
        header = image.header
        pages = Self.pages(header, of: bytes, decoder.format)
        metadataBytes = image.metadataBytes
        codedSize = image.codedSize
        let stated = decoder.format.traits.statedColors?(HeaderBytes(Span(_unsafeBytes: bytes)))
        hdr = HDRColors(stated, image)
        bits = SampleBits.stored(in: image) ?? 8 * header.bytesPerBand
        let space = header.color.profileSpace.flatMap(ProfileSpace.init(rawValue:))
        let embedded = image.withProfile { SampleProfile($0, for: space) } ?? nil
        profile = SampleProfile(embedded, stated: stated, for: space)
        needsProfile = profile.map { !$0.isSRGB } ?? false
        statedOrientation =
            image.header.orientation ?? image.withXMP { XMPOrientation.read($0) } ?? nil
        orientation = Orientation(exif: decoder.turnsPixels ? 1 : statedOrientation ?? 1)
    }

    /// The page counts that libvips reports reliably; it returns 1 for ten thousand pages or more.
    private static let countedPages = 2..<4_096

    /// The size of the fcTL chunk of each PNG frame.
    private static let pngFrameBytes = 38

    /// Returns the number stated by the file, unless a PNG is too small for it; else that of
    /// libvips. If libvips may have stopped counting frames early, they are counted here, because
    /// the limit must hold.
    private static func pages(
        _ header: VipsHeader, of bytes: UnsafeRawBufferPointer, _ format: ImageFormat
    ) -> Int {
        let traits = format.traits
        if let frames = traits.storedFrames?(HeaderBytes(Span(_unsafeBytes: bytes))),
            format != .png || frames <= bytes.count / pngFrameBytes
        {
            return max(1, frames)
        }
        guard traits.input?.pages == .frames, !countedPages.contains(header.pages) else {
            return header.pages
        }
        let most = LimitSetting.pages.range.upperBound + 1
        let map = AnimationMap(bytes.bindMemory(to: UInt8.self).span, framesMax: most)
        return max(header.pages, map?.wholeFrames ?? 1)
    }

    /// The same source with its pixels in the colors of the file, not converted to sRGB.
    var withoutColorConversion: SourceImage {
        var source = self
        source.needsProfile = false
        source.hdr = nil
        return source
    }

    /// Returns the same source with this number of available frames or pages.
    func with(pages: Int) -> SourceImage {
        var source = self
        source.pages = pages
        return source
    }

    /// The frame that represents the still image if no decoder can decode it directly: the first
    /// one of an animated WebP.
    var frameOfStill: Int? { isAnimatedWebP ? 0 : nil }

    private var isAnimatedWebP: Bool {
        decoder.format == .webp && HeaderBytes(Span(_unsafeBytes: bytes)).webPHasFrames
    }

    /// Returns the sample format of a decode that keeps these parts.
    func samples(_ keeps: KeptParts) -> SampleForm {
        guard (9...16).contains(bits), [.gray16, .rgb16].contains(header.color) else {
            return .standard
        }
        if keeps.contains(.hdr), header.color == .rgb16, let hdr {
            return SampleForm(bits: bits, hdr: hdr)
        }
        return keeps.contains(.depth) ? SampleForm(bits: bits) : .standard
    }

    /// The integer value of a sample of 1.0: decoders that expand fewer bits to 16 use the most
    /// significant bits.
    var whole: Int {
        let room = 8 * header.bytesPerBand
        guard room == 16, (9..<16).contains(bits), isHEIF else { return 1 << room - 1 }
        return (1 << bits - 1) << (room - bits)
    }

    private var isHEIF: Bool { [.heic, .heif, .avif].contains(decoder.format) }

    /// The properties of the source as it is displayed.
    var info: ImageInfo {
        ImageInfo(
            format: decoder.format, size: orientation.displayed(storedSize), pages: pages,
            hasAlpha: header.hasAlpha, bits: max(8, bits), isHDR: hdr != nil)
    }

    var storedSize: PixelSize { PixelSize(width: header.width, height: header.height) }

    /// Returns the smallest scale of the format's decoder that satisfies the need. Each side keeps
    /// at least one pixel, because libvips aborts the process if an image would be empty.
    func scale(for need: DecodeNeed) -> DecodeScale {
        need.scale(for: info.size, of: decoder.format.traits.input?.scales ?? .whole)
    }

    /// Returns the decoded size at a scale: libvips always composes WebP frames at full size, and
    /// an AVIF is decoded before it is cropped.
    func decodedSize(at scale: DecodeScale) -> PixelSize {
        if let codedSize { return codedSize }
        return isAnimatedWebP ? storedSize : scale.size(storedSize)
    }

    /// Opens the image, reading only its header; the pixels need not exist.
    func openHeader() throws -> VipsImage { try Self.header(bytes, by: decoder, missing) }

    private static func header(
        _ bytes: UnsafeRawBufferPointer, by decoder: any FormatDecoder, _ missing: MissingPixels?
    ) throws -> VipsImage {
        try decoder.converting {
            try missing == nil ? decoder.header(bytes) : decoder.partialHeader(bytes)
        }
    }

    /// Opens the image, reading only its header; pixels are decoded at that scale on demand, but
    /// now if some may be missing.
    func open(at scale: DecodeScale) throws -> VipsImage {
        try decoder.converting {
            guard let missing else { return try decoder.open(bytes, at: scale) }
            return try decoder.openPartial(bytes, at: scale, missing)
        }
    }
}

extension FormatDecoder {
    /// Calls `body`, and converts errors of codecs besides libvips.
    fileprivate func converting(_ body: () throws -> VipsImage) throws -> VipsImage {
        do {
            return try body()
        } catch let error as CodecError {
            throw VipsError(error, operation: format.name)
        }
    }
}

/// The bit depth of a file's samples.
enum SampleBits {
    /// Returns the depth stored by a palette or a video codec, if it differs from libvips' result.
    static func stored(in image: VipsImage) -> Int? {
        let stored = image.number("palette-bit-depth") ?? image.number("heif-bitdepth")
        return stored.flatMap { (1...64).contains($0) ? $0 : nil }
    }
}

extension SourceImage {
    /// The encoding according to its header.
    var coding: StoredCoding {
        if let stated = decoder.format.traits.input?.coding {
            return stated(HeaderBytes(Span(_unsafeBytes: bytes)))
        }
        return StoredCoding(header.isInterlaced ? .whole : .streamed)
    }

    /// Returns the private memory in bytes that its decoder needs at that scale.
    func memoryBytes(at scale: DecodeScale, composing: Bool) -> Int {
        guard let rows = decoder.format.traits.input?.memory else { return 0 }
        let coding = coding
        let isStreamed = coding.coding == .streamed
        let size = codedSize ?? (isStreamed ? scale.size(storedSize) : storedSize)
        let colors = header.bands < 3 ? 1 : 3
        let decoding = rows[coding.coding].bytes(
            pixels: max(size.area ?? .max, coding.framePixels),
            channels: max(header.bands, colors + coding.extraChannels),
            sampleBytes: header.bytesPerBand)
        let kept = isStreamed ? decoder.keptBytes(of: self, at: scale) : 0
        let canvas =
            composing
            ? DecoderMemory.composing.bytes(
                pixels: storedSize.area ?? .max, channels: 0, sampleBytes: 0) : 0
        return [kept, canvas].reduce(decoding) { sum, more in
            let (total, overflows) = sum.addingReportingOverflow(more)
            return overflows ? .max : total
        }
    }
}

extension DecoderMemoryRows.Coding {
    /// The wording for errors; `nil` for the usual one.
    var wording: String? {
        switch self {
        case .streamed: nil
        case .whole: "decoded as a whole"
        case .layered: "with several layers"
        }
    }
}

extension SourceImage {
    /// Builds the complete pipeline from encoded bytes to displayable pixels. Nothing is computed
    /// yet, unless the orientation requires a different row order than the decoder's.
    func pixels(
        at scale: DecodeScale, as samples: SampleForm = .standard, cancellation: CancellationFlag
    ) throws -> PendingPixels {
        let opened = try open(at: scale)
        opened.watch { cancellation.isCancelled }
        let colored = try ColorConversion(source: self, samples: samples).apply(to: opened)
        return try completed(orientation.apply(to: colored), as: samples, at: scale)
    }

    /// Adds the columns and rows that the decoder omitted because they are partial.
    private func completed(
        _ image: VipsImage, as samples: SampleForm, at scale: DecodeScale
    ) throws(VipsError) -> PendingPixels {
        let header = image.header
        guard let bands = PixelPlane.Bands(rawValue: UInt8(clamping: header.bands)) else {
            throw VipsError(
                kind: .unsupported, operation: "decode", text: "\(header.bands) bands")
        }
        let (columns, rows) = decoder.sides(of: header, self, at: scale)
        let isWhole = columns.count == header.width && rows.count == header.height
        let whole =
            try isWhole
            ? image
            : image.extended(
                left: columns.before, top: rows.before, width: columns.count, height: rows.count)
        return PendingPixels(
            image: whole, bands: bands, samples: samples, columns: columns, rows: rows)
    }
}

/// Pixels to be computed, in the stage's output format.
struct PendingPixels {
    let image: VipsImage
    let bands: PixelPlane.Bands
    let samples: SampleForm
    let columns: ReducedSide
    let rows: ReducedSide

    var layout: PixelLayout {
        PixelLayout(
            bands: bands, size: PixelSize(width: columns.count, height: rows.count),
            stride: columns.count * Int(bands.rawValue) * samples.bytes, samples: samples,
            activeWidth: columns.active, activeHeight: rows.active)
    }

    /// Computes the pixels directly into a block of `output`, followed by kept metadata.
    func write(
        to output: some OutputSpace, with kept: RetainedMetadata
    ) throws -> DecodedImage.Frame {
        let layout = layout
        guard let count = layout.byteCount else {
            throw ImageError(.internalError, "the decoder produced an empty image")
        }
        return try output.frame(layout, bytes: count, with: kept) { memory in
            try image.write(to: memory)
            try InflatedBytes.check()
        }
    }
}

/// The columns or rows of a reduced image: their number, and how many of them the image covers.
///
/// libvips omits partial columns of a JPEG: reducing 2725 columns by 4 results in 681, although the
/// image is 681.25 wide. Ignoring the quarter costs 4 dB. Every other decoder maps the whole side
/// to whole columns.
struct ReducedSide: Equatable {
    /// The number of columns of the result.
    let count: Int
    /// The number of columns covered by the image, counted from the first.
    let active: Double
    /// The number of columns to insert before the decoded ones, by repeating the first.
    let before: Int

    /// Creates a side that the image covers completely.
    init(count: Int) {
        self.init(count: count, active: Double(count), before: 0)
    }

    /// Computes the side of a reduced JPEG.
    ///
    /// - Parameters:
    ///   - stored: The columns of the source.
    ///   - reduction: The reduction factor of the decoder.
    ///   - decoded: The columns returned by the decoder.
    ///   - isMirrored: Whether the result counts columns from the other end.
    init(stored: Int, reduction: Int, decoded: Int, isMirrored: Bool) {
        let exact = Double(stored) / Double(reduction)
        guard Double(decoded) < exact else {
            self.init(count: decoded)
            return
        }
        guard isMirrored else {
            // A repeated column, partly covered, replaces the missing partial one.
            self.init(count: decoded + 1, active: exact, before: 0)
            return
        }
        // The partial column is now at the beginning, where layouts have no fractions: it is
        // rounded to whole columns, which is off by at most half a column at one edge.
        let missing = exact - Double(decoded) < 0.5 ? 0 : 1
        self.init(count: decoded + missing, active: Double(decoded + missing), before: missing)
    }

    private init(count: Int, active: Double, before: Int) {
        (self.count, self.active, self.before) = (count, active, before)
    }
}

/// Converts any colors to 8-bit sRGB, or to gray if the source is gray; to 16 bits, or not at all,
/// if the sample format requires it.
struct ColorConversion {
    let source: SourceImage
    let samples: SampleForm

    private var header: VipsHeader { source.header }
    private var needsProfile: Bool { source.needsProfile }

    func apply(to image: VipsImage) throws(VipsError) -> VipsImage {
        try checkSamples()
        if samples.hdr == nil, let hdr = source.hdr {
            return try image.convertedToSRGB(
                of: hdr.conversion, whole: source.whole, isDeep: samples.isDeep)
        }
        let colored = try samples.isDeep ? deepened(image) : converted(image)
        let isColor = ![.gray, .gray16].contains(header.color)
        // Bands after alpha are masks and spot colors for printing.
        return isColor && colored.header.bands > 4 ? try colored.firstBands(4) : colored
    }

    private func converted(_ image: VipsImage) throws(VipsError) -> VipsImage {
        let byProfile = needsProfile ? convertedByProfile(image) : nil
        switch header.color {
        case .gray where byProfile == nil, .rgb where byProfile == nil: return image
        case .gray, .gray16: return try (byProfile ?? image).convertedToGray()
        case .rgb, .rgb16, .cmyk, .other: return try (byProfile ?? image).convertedToSRGB()
        }
    }

    /// Expands samples of more than 8 bits to 16.
    private func deepened(_ image: VipsImage) throws(VipsError) -> VipsImage {
        let whole = 65_535
        let wide = source.whole == whole ? image : try image.widened(whole: source.whole)
        guard samples.hdr == nil, needsProfile else { return wide }
        let colored = convertedByProfile(wide) ?? wide
        return header.color == .gray16 ? try colored.convertedToGray(isDeep: true) : colored
    }

    /// Returns nil if the profile is damaged: the image is then shown as if it had none, as in
    /// browsers.
    private func convertedByProfile(_ image: VipsImage) -> VipsImage? {
        guard let profile = source.profile else { return nil }
        let isDeep = image.header.bytesPerBand == 2
        let isGrayAsRGB = image.header.bands < 3 && profile.space == .rgb
        return try? (isGrayAsRGB ? image.convertedToSRGB(isDeep: isDeep) : image)
            .embedding(profile: profile.bytes, xmp: [])
            .convertedToSRGBByProfile(isPerceptual: profile.isPerceptualOnly)
    }

    /// Accepts floating-point samples only if their color space defines 1.0; files with signed
    /// samples or more than 16 bits don't define black and white.
    private func checkSamples() throws(VipsError) {
        switch header.samples {
        case .whole: return
        case .real where header.color == .other: return
        case .real, .other:
            throw VipsError(
                kind: .unsupported, operation: "decode",
                text: "signed, floating-point or more than 16-bit samples")
        }
    }
}

extension HDRColors {
    /// Reads numeric color information, else that of the profile; `nil` for other colors.
    init?(_ stated: StatedColors?, _ image: VipsImage) {
        let header = image.header
        guard header.samples == .whole, header.bands <= 4,
            [.gray, .gray16, .rgb, .rgb16].contains(header.color)
        else { return nil }
        let byNumbers = stated.flatMap { HDRColors($0) }
        let byProfile = image.withProfile {
            HDRColors(profile: HeaderBytes(Span(_unsafeBytes: $0)))
        }
        let found = stated?.outranksProfile == true ? byNumbers : byNumbers ?? byProfile ?? nil
        guard let found else { return nil }
        self = found
    }

    /// The same in the converter's terms.
    var conversion: VipsHDR {
        VipsHDR(
            transfer == .pq ? .pq : .hlg(peakNits: Self.nominalPeakNits),
            toSRGB: primaries.toSRGB, luminance: primaries.luminance, whiteNits: Self.whiteNits)
    }
}

extension Orientation {
    /// Applies the orientation. Decoders produce rows from top to bottom; if another order is
    /// needed, `image` is first computed into memory.
    func apply(to image: VipsImage) throws(VipsError) -> VipsImage {
        switch (transposes, mirrorsHorizontally, mirrorsVertically) {
        case (false, false, false): image
        case (false, true, false): try image.flippedHorizontally()
        case (false, true, true): try image.copiedToMemory().rotated(quarters: 2)
        case (false, false, true): try image.copiedToMemory().flippedVertically()
        case (true, true, false): try image.copiedToMemory().rotated(quarters: 1)
        case (true, false, true): try image.copiedToMemory().rotated(quarters: 3)
        case (true, false, false):
            try image.copiedToMemory().rotated(quarters: 1).flippedHorizontally()
        case (true, true, true):
            try image.copiedToMemory().rotated(quarters: 1).flippedVertically()
        }
    }
}
