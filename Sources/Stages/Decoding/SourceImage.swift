import Animation
import ImageModel
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
