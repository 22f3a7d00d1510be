import Animation
import ImageModel
import Messages
import StageContract
import Vips

/// Encoded bytes whose header has been read.
struct SourceImage {
    let bytes: UnsafeRawBufferPointer
    let decoder: any FormatDecoder
    let header: VipsHeader
    /// Frames or pages in all.
    private(set) var pages: Int
    /// What is decoded of it before it is cropped, if it may be.
    let codedSize: PixelSize?
    /// The profile that explains its samples: its own, or one made of the numbers by which it
    /// states its colors; `nil` for sRGB without a profile.
    let profile: SampleProfile?
    /// Its colours mean sRGB only after a conversion by the profile that it has.
    private(set) var needsProfile: Bool
    /// What its samples mean where that is light above SDR white.
    private(set) var hdr: HDRColours?
    /// Bits of a sample that are used.
    let bits: Int
    /// Bytes of profile, EXIF, XMP and other texts.
    let metadataBytes: Int
    /// What the file says: EXIF, else XMP.
    let statedOrientation: Int?
    /// How the pixels are to be turned yet, as the file says.
    let orientation: Orientation

    /// Knows the format by the first bytes, never by what a server said.
    init(
        _ bytes: UnsafeRawBufferPointer, among decoders: FormatDecoders = .raster
    ) throws(ImageError) {
        try self.init(bytes, by: decoders.decoder(of: bytes))
    }

    /// Of a format that is known.
    init(_ bytes: UnsafeRawBufferPointer, by decoder: any FormatDecoder) throws(ImageError) {
        (self.bytes, self.decoder) = (bytes, decoder)
        let image = try ImageError.mapping { () throws(VipsError) in try decoder.header(bytes) }
        header = image.header
        pages = Self.pages(header, of: bytes, decoder.format)
        metadataBytes = image.metadataBytes
        codedSize = image.codedSize
        let stated = decoder.format.traits.statedColors?(HeaderBytes(Span(_unsafeBytes: bytes)))
        hdr = HDRColours(stated, image)
        bits = SampleBits.stored(in: image) ?? 8 * header.bytesPerBand
        let space = header.colour.profileSpace.flatMap(ProfileSpace.init(rawValue:))
        let embedded = image.withProfile { SampleProfile($0, for: space) } ?? nil
        profile = SampleProfile(embedded, stated: stated, for: space)
        needsProfile = profile.map { !$0.isSRGB } ?? false
        statedOrientation =
            image.header.orientation ?? image.withXMP { XMPOrientation.read($0) } ?? nil
        orientation = Orientation(exif: decoder.turnsPixels ? 1 : statedOrientation ?? 1)
    }

    /// Pages that libvips counts; it says 1 where there are ten thousand or more.
    private static let countedPages = 2..<4_096

    /// Bytes of the fcTL chunk that each frame of a PNG has.
    private static let pngFrameBytes = 38

    /// What the file says, unless it has no room for so many frames; else what libvips says, as far
    /// as it can count: of frames it may stop early, and a limit of them is to hold.
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

    /// The same, whose colours stay as they are.
    var withOwnColours: SourceImage {
        var source = self
        source.needsProfile = false
        source.hdr = nil
        return source
    }

    /// The same, of whose frames or pages so many are there.
    func with(pages: Int) -> SourceImage {
        var source = self
        source.pages = pages
        return source
    }

    /// The frame that is the still image if no decoder makes rows of it: the first one of an
    /// animated WebP.
    var frameOfStill: Int? { isAnimatedWebP ? 0 : nil }

    private var isAnimatedWebP: Bool {
        decoder.format == .webp && HeaderBytes(Span(_unsafeBytes: bytes)).webPHasFrames
    }

    /// What samples a decode makes that keeps these.
    func samples(_ keeps: KeptParts) -> SampleForm {
        guard (9...16).contains(bits), [.grey16, .rgb16].contains(header.colour) else {
            return .usual
        }
        if keeps.contains(.hdr), header.colour == .rgb16, let hdr {
            return SampleForm(bits: bits, hdr: hdr)
        }
        return keeps.contains(.depth) ? SampleForm(bits: bits) : .usual
    }

    /// The number that a sample of 1 is: where a decoder makes 16 bits of fewer, they come first.
    var whole: Int {
        let room = 8 * header.bytesPerBand
        guard room == 16, (9..<16).contains(bits), isHEIF else { return 1 << room - 1 }
        return (1 << bits - 1) << (room - bits)
    }

    private var isHEIF: Bool { [.heic, .heif, .avif].contains(decoder.format) }

    /// Of the source as it will be displayed.
    var info: ImageInfo {
        ImageInfo(
            format: decoder.format, size: orientation.displayed(storedSize), pages: pages,
            hasAlpha: header.hasAlpha, bits: max(8, bits), isHDR: hdr != nil)
    }

    var storedSize: PixelSize { PixelSize(width: header.width, height: header.height) }

    /// The scale at which the pixels are made: the smallest that the need allows, of those that the
    /// format's decoder makes. A side keeps a pixel at least: libvips ends the process when it is
    /// asked for an image that has none.
    func scale(for need: DecodeNeed) -> DecodeScale {
        need.scale(for: info.size, of: decoder.format.traits.input?.scales ?? .whole)
    }

    /// The size of the pixels that are made at a scale: libvips composes the frames of a WebP at
    /// their own size, whatever it is asked for, and an AVIF is decoded before it is cut.
    func madeSize(at scale: DecodeScale) -> PixelSize {
        if let codedSize { return codedSize }
        return isAnimatedWebP ? storedSize : scale.size(storedSize)
    }

    /// The image, nothing but its header read: it need not have its pixels.
    func openHeader() throws(ImageError) -> VipsImage {
        try ImageError.mapping { () throws(VipsError) in try decoder.header(bytes) }
    }

    /// The image, nothing but its header read; pixels are made at that scale as it is decoded.
    func open(at scale: DecodeScale) throws(ImageError) -> VipsImage {
        try ImageError.mapping { () throws(VipsError) in try decoder.open(bytes, at: scale) }
    }
}

/// Bits of the samples of a file.
enum SampleBits {
    /// What a palette or a video codec stores, where that is not what libvips makes of it.
    static func stored(in image: VipsImage) -> Int? {
        let stored = image.number("palette-bit-depth") ?? image.number("heif-bitdepth")
        return stored.flatMap { (1...64).contains($0) ? $0 : nil }
    }
}

extension SourceImage {
    /// How it is coded, by its header.
    var coding: StoredCoding {
        if let stated = decoder.format.traits.input?.coding {
            return stated(HeaderBytes(Span(_unsafeBytes: bytes)))
        }
        return StoredCoding(header.isInterlaced ? .whole : .streamed)
    }

    /// Bytes of private memory that its decoder takes at that scale.
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
    /// For errors; `nil` for the usual one.
    var wording: String? {
        switch self {
        case .streamed: nil
        case .whole: "decoded as a whole"
        case .layered: "of several layers"
        }
    }
}

extension SourceImage {
    /// The whole way from encoded bytes to displayable pixels, in order; nothing is computed yet,
    /// except where the orientation needs the pixels in another order than the decoder makes them.
    func pixels(
        at scale: DecodeScale, as samples: SampleForm = .usual, cancellation: CancellationFlag
    ) throws(ImageError) -> PendingPixels {
        let opened = try open(at: scale)
        opened.watch { cancellation.isCancelled }
        return try ImageError.mapping { () throws(VipsError) -> PendingPixels in
            let coloured = try ColourConversion(self, to: samples).apply(to: opened)
            let turned = try orientation.apply(to: coloured)
            return try completed(turned, as: samples, at: scale)
        }
    }

    /// Adds the columns and rows of which the decoder left out a part.
    private func completed(
        _ image: VipsImage, as samples: SampleForm, at scale: DecodeScale
    ) throws(VipsError) -> PendingPixels {
        let header = image.header
        guard let bands = PixelPlane.Bands(rawValue: UInt8(clamping: header.bands)) else {
            throw VipsError(
                kind: .unsupported, operation: "decode", text: "\(header.bands) bands")
        }
        let (columns, rows) = decoder.sides(of: header, self, at: scale)
        guard columns.count != header.width || rows.count != header.height else {
            return PendingPixels(
                image: image, bands: bands, samples: samples, columns: columns, rows: rows)
        }
        let whole = try image.extended(
            left: columns.before, top: rows.before, width: columns.count, height: rows.count)
        return PendingPixels(
            image: whole, bands: bands, samples: samples, columns: columns, rows: rows)
    }
}

/// Pixels about to be computed, in the form in which they leave the stage.
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

    /// Computes the pixels straight into a block of `output`, what is kept behind them.
    func write(
        to output: some OutputSpace, with kept: KeptBytes = KeptBytes()
    ) throws(ImageError) -> DecodedImage.Frame {
        let layout = layout
        guard let count = layout.byteCount else {
            throw ImageError(.internalError, "the decoder made an image of no size")
        }
        let block = try output.reserve(count + kept.byteCount)
        do throws(ImageError) {
            try ImageError.mapping { () throws(VipsError) in
                try image.write(to: UnsafeMutableRawBufferPointer(rebasing: block.bytes[..<count]))
            }
            try InflatedBytes.check()
        } catch {
            output.discard(block)
            throw error
        }
        return block.frame(layout, pixelBytes: count, with: kept)
    }
}

/// Columns, or rows, of an image that the decoder made smaller: how many there are, and how many of
/// them are image.
///
/// Of a JPEG libvips gives the whole columns only: of 2725 reduced by 4 these are 681, though the
/// image is 681.25 wide. Ignoring the quarter costs 4 dB. Every other decoder maps
/// the whole side to whole columns.
struct ReducedSide: Equatable {
    /// Columns of the result.
    let count: Int
    /// Columns of the result that are image, counted from the first.
    let active: Double
    /// Columns to add in front of what the decoder made, by repeating the first.
    let before: Int

    /// All of the image is in `count` columns.
    init(count: Int) {
        self.init(count: count, active: Double(count), before: 0)
    }

    /// What is left of a JPEG.
    ///
    /// - Parameters:
    ///   - stored: columns of the source.
    ///   - reduction: by how much the decoder made fewer.
    ///   - made: columns that it made.
    ///   - isMirrored: the result counts them from the other end.
    init(stored: Int, reduction: Int, made: Int, isMirrored: Bool) {
        let exact = Double(stored) / Double(reduction)
        guard Double(made) < exact else {
            self.init(count: made)
            return
        }
        guard isMirrored else {
            // The part of a column that is missing becomes a repeated one, partly active.
            self.init(count: made + 1, active: exact, before: 0)
            return
        }
        // Now it is missing in front, where a layout knows no fractions: the nearest whole number
        // of columns stands for the exact one, at most half a column off at one edge.
        let missing = exact - Double(made) < 0.5 ? 0 : 1
        self.init(count: made + missing, active: Double(made + missing), before: missing)
    }

    private init(count: Int, active: Double, before: Int) {
        (self.count, self.active, self.before) = (count, active, before)
    }
}

/// Any colours to sRGB, or to grey where the source is grey, of 8 bits; or of 16, or as they are,
/// where samples are to be such.
struct ColourConversion {
    let source: SourceImage
    let samples: SampleForm

    private var header: VipsHeader { source.header }
    private var needsProfile: Bool { source.needsProfile }

    init(_ source: SourceImage, to samples: SampleForm) {
        (self.source, self.samples) = (source, samples)
    }

    func apply(to image: VipsImage) throws(VipsError) -> VipsImage {
        try checkSamples()
        if samples.hdr == nil, let hdr = source.hdr {
            return try image.convertedToSRGB(
                of: hdr.conversion, whole: source.whole, isDeep: samples.isDeep)
        }
        let coloured = try samples.isDeep ? deepened(image) : converted(image)
        let isColour = ![.grey, .grey16].contains(header.colour)
        // What follows alpha are masks and spot colours, which are for print.
        return isColour && coloured.header.bands > 4 ? try coloured.firstBands(4) : coloured
    }

    private func converted(_ image: VipsImage) throws(VipsError) -> VipsImage {
        let byProfile = needsProfile ? convertedByProfile(image) : nil
        switch header.colour {
        case .grey where byProfile == nil, .rgb where byProfile == nil: return image
        case .grey, .grey16: return try (byProfile ?? image).convertedToGrey()
        case .rgb, .rgb16, .cmyk, .other: return try (byProfile ?? image).convertedToSRGB()
        }
    }

    /// Samples of more than 8 bits in 16.
    private func deepened(_ image: VipsImage) throws(VipsError) -> VipsImage {
        let whole = 65_535
        let wide = source.whole == whole ? image : try image.widened(whole: source.whole)
        guard samples.hdr == nil, needsProfile else { return wide }
        let coloured = convertedByProfile(wide) ?? wide
        return header.colour == .grey16 ? try coloured.convertedToGrey(isDeep: true) : coloured
    }

    /// Nil where the profile is damaged: the image is then shown as if it had none, as in browsers.
    private func convertedByProfile(_ image: VipsImage) -> VipsImage? {
        guard let profile = source.profile else { return nil }
        let isDeep = image.header.bytesPerBand == 2
        let isGreyAsRGB = image.header.bands < 3 && profile.space == .rgb
        return try? (isGreyAsRGB ? image.convertedToSRGB(isDeep: isDeep) : image)
            .enclosing(profile: profile.bytes, xmp: [])
            .convertedToSRGBByProfile(isPerceptual: profile.isPerceptualOnly)
    }

    /// Numbers with a fraction are known where their colours say what 1 is; of those with a sign,
    /// and of more than 16 bits, a file does not say which is black and which is white.
    private func checkSamples() throws(VipsError) {
        switch header.samples {
        case .whole: return
        case .real where header.colour == .other: return
        case .real, .other:
            throw VipsError(
                kind: .unsupported, operation: "decode",
                text: "samples with a sign, a fraction or more than 16 bits")
        }
    }
}

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

extension Orientation {
    /// The pixels as they are displayed. A decoder makes rows from top to bottom; where another
    /// order is wanted, `image` is computed into memory first.
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
