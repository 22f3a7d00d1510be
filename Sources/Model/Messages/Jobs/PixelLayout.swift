/// The memory layout of decoded pixels in their block (PROTOCOL §7.1): one plane of interleaved
/// samples, or three planes of one sample each as in a JPEG: Y, Cb and Cr of BT.601 in full range
/// (JFIF 1.02), with chroma at full or reduced resolution, sited at the center of the pixels it
/// covers.
public struct PixelLayout: Hashable, Sendable {
    /// One plane, or three with one band each.
    public var planes: [PixelPlane]
    /// The orientation still to be applied.
    public var orientation: Orientation
    /// The sample format; the default in three planes.
    public var samples = SampleForm.standard
    /// For consecutive frames with the same layout, which is that of the plane: the frame durations
    /// and the loop count.
    public var animation: AnimationProperties?
    /// Metadata in the block in addition to the pixels; each kind at most once.
    public var embeddedMetadata: [EmbeddedMetadata] = []

    /// Creates a layout of planes as decoded.
    public init(planes: [PixelPlane], orientation: Orientation) {
        self.planes = planes
        self.orientation = orientation
    }

    /// Creates a layout of interleaved pixels in display orientation; by default all of them are
    /// image content.
    public init(
        bands: PixelPlane.Bands, size: PixelSize, stride: Int, samples: SampleForm = .standard,
        activeWidth: Double? = nil, activeHeight: Double? = nil
    ) {
        let plane = PixelPlane(
            bands: bands, size: size, stride: stride, activeWidth: activeWidth,
            activeHeight: activeHeight)
        self.init(planes: [plane], orientation: .upright)
        self.samples = samples
    }

    /// Whether luma and chroma are in separate planes.
    public var isPlanar: Bool { planes.count == Self.planesMax }

    /// The maximum number of planes.
    public static let planesMax = 3

    /// The number of bytes of the block that pixels and metadata occupy; `nil` if the layout is
    /// invalid or overflows.
    public var byteCount: Int? {
        guard var count = pixelByteCount,
            Set(embeddedMetadata.map(\.kind)).count == embeddedMetadata.count
        else { return nil }
        for embedded in embeddedMetadata {
            guard let end = embedded.end else { return nil }
            count = max(count, end)
        }
        return count
    }

    /// The number of bytes of the block that the pixels occupy; `nil` if the layout is invalid or
    /// overflows.
    public var pixelByteCount: Int? {
        guard planes.count == 1 || isPlanar && planes.allSatisfy({ $0.bands == .gray }),
            mayHaveSamples, mayHaveFrames
        else { return nil }
        var count = 0
        for plane in planes {
            guard let end = plane.end(samples) else { return nil }
            count = max(count, end)
        }
        let (all, overflow) = count.multipliedReportingOverflow(by: frames)
        return overflow ? nil : all
    }

    /// The number of frames in the block, at least one.
    public var frames: Int { animation.map { max(1, $0.durations.count) } ?? 1 }

    /// Returns the byte range of one frame in the block; `nil` if the layout is invalid or has no
    /// such frame.
    public func bytes(ofFrame index: Int) -> Range<Int>? {
        guard let pixelByteCount, (0..<frames).contains(index) else { return nil }
        let count = pixelByteCount / frames
        return index * count..<(index + 1) * count
    }

    /// The layout of one frame, which is at the start.
    public var still: PixelLayout {
        var layout = self
        layout.animation = nil
        return layout
    }

    /// At least two complete frames of 8-bit RGBA.
    private var mayHaveFrames: Bool {
        guard let animation else { return true }
        return (2...AnimationProperties.framesMax).contains(animation.durations.count)
            && planes.count == 1 && planes[0].bands == .rgba && planes[0].offset == 0
            && planes[0].isWhole && samples == .standard
    }

    /// Separate planes have 8 bits, and only RGB can have a high dynamic range.
    private var mayHaveSamples: Bool {
        guard samples != .standard else { return true }
        let hasColors = planes.allSatisfy { $0.bands == .rgb || $0.bands == .rgba }
        return samples.isPossible && planes.count == 1 && (samples.hdr == nil || hasColors)
    }

    /// Whether every plane consists entirely of image content except for a fraction of its last
    /// column and row.
    public var isActive: Bool { planes.allSatisfy(\.isActive) }
}

/// Rows of samples from top to bottom in a part of a block, with one or several interleaved
/// channels.
public struct PixelPlane: Hashable, Sendable {
    /// The channels of a pixel, interleaved.
    public enum Bands: UInt8, Hashable, Sendable, CaseIterable {
        /// One sample: gray, or the single channel of this plane.
        case gray = 1
        /// Gray and straight alpha.
        case grayAlpha = 2
        /// Red, green, blue.
        case rgb = 3
        /// Red, green, blue and straight alpha.
        case rgba = 4
    }

    /// The channels of a pixel.
    public var bands: Bands
    /// The offset of the first sample in the block, in bytes.
    public var offset: Int
    /// Columns and rows in the block.
    public var size: PixelSize
    /// The row stride in bytes, at least columns × bands × bytes per sample.
    public var stride: Int
    /// The number of columns with image content, fractional if a downscaled source doesn't fill the
    /// last one (2725 / 4 = 681.25 of 682). Greater than `size.width` − 1, at most `size.width`.
    public var activeWidth: Double
    /// The number of rows with image content, likewise.
    public var activeHeight: Double

    /// Creates a plane; by default all of it is image content.
    public init(
        bands: Bands, offset: Int = 0, size: PixelSize, stride: Int, activeWidth: Double? = nil,
        activeHeight: Double? = nil
    ) {
        self.bands = bands
        self.offset = offset
        self.size = size
        self.stride = stride
        self.activeWidth = activeWidth ?? Double(size.width)
        self.activeHeight = activeHeight ?? Double(size.height)
    }

    /// Returns the number of bytes from the first sample to the end of the last row: stride × rows;
    /// `nil` if the layout is invalid or overflows, or if two-byte samples are misaligned.
    public func byteCount(_ samples: SampleForm = .standard) -> Int? {
        let bytes = samples.bytes
        guard size.isPositive, offset.isMultiple(of: bytes), stride.isMultiple(of: bytes),
            let row = Self.product(size.width, Int(bands.rawValue) * bytes), stride >= row
        else { return nil }
        return Self.product(stride, size.height)
    }

    /// Returns the offset of the end of the last row in the block.
    func end(_ samples: SampleForm) -> Int? {
        guard offset >= 0, let byteCount = byteCount(samples) else { return nil }
        let (end, overflow) = offset.addingReportingOverflow(byteCount)
        return overflow ? nil : end
    }

    /// Whether everything is image content except for a fraction of the last column and row.
    public var isActive: Bool {
        Self.reaches(size.width, activeWidth) && Self.reaches(size.height, activeHeight)
    }

    /// Whether everything is image content.
    var isWhole: Bool {
        activeWidth == Double(size.width) && activeHeight == Double(size.height)
    }

    private static func reaches(_ side: Int, _ active: Double) -> Bool {
        active > Double(side) - 1 && active <= Double(side)
    }

    private static func product(_ left: Int, _ right: Int) -> Int? {
        let (value, overflow) = left.multipliedReportingOverflow(by: right)
        return overflow ? nil : value
    }
}

extension EncodedImage {
    /// The layout of the pixels of a PAM. Its header has a fixed size (`PixelMapHeader`), so the
    /// total number of bytes determines the samples per pixel. `nil` for other formats, and if the
    /// number doesn't match the size and the alpha channel.
    package var pixelMap: PixelLayout? {
        guard info.format == .pam, let area = info.size.area, area > 0,
            let length = Int(exactly: reference.length), length > PixelMapHeader.byteCount
        else { return nil }
        let (count, rest) = (length - PixelMapHeader.byteCount).quotientAndRemainder(
            dividingBy: area)
        guard rest == 0, let bands = UInt8(exactly: count).flatMap(PixelPlane.Bands.init),
            bands.hasAlpha == info.hasAlpha
        else { return nil }
        let plane = PixelPlane(
            bands: bands, offset: PixelMapHeader.byteCount, size: info.size,
            stride: info.size.width * count)
        return PixelLayout(planes: [plane], orientation: .upright)
    }
}

extension PixelPlane.Bands {
    fileprivate var hasAlpha: Bool { self == .grayAlpha || self == .rgba }
}

/// Metadata of a source that goes into results in addition to its pixels, and its location in their
/// block (PROTOCOL §7.1). It is as untrusted as the source.
public struct EmbeddedMetadata: Hashable, Sendable {
    /// The kind of metadata; the number on the wire.
    public enum Kind: UInt8, Hashable, Sendable, CaseIterable {
        /// An ICC profile for RGB or gray.
        case profile = 1
        /// EXIF, starting at its TIFF header.
        case exif = 2
        /// An XMP packet.
        case xmp = 3
        /// IPTC-IIM records.
        case iptc = 4

        /// The maximum size in bytes: 4 MiB for a profile, otherwise the capacity of one JPEG
        /// segment.
        public var bytesMax: Int { self == .profile ? 4 << 20 : 65_500 }
    }

    /// The kind of metadata.
    public var kind: Kind
    /// The offset from the first byte of the block's reference.
    public var offset: Int
    /// The length in bytes, at least 1.
    public var length: Int

    /// Creates a location.
    public init(kind: Kind, offset: Int, length: Int) {
        (self.kind, self.offset, self.length) = (kind, offset, length)
    }

    /// The end offset; `nil` if the numbers are invalid.
    public var end: Int? {
        guard offset >= 0, (1...kind.bytesMax).contains(length) else { return nil }
        let (end, overflows) = offset.addingReportingOverflow(length)
        return overflows ? nil : end
    }

    /// The kept parts that may include it.
    package var keptParts: KeptParts {
        kind == .profile ? [.profile, .grayProfile] : [.rights, .metadata]
    }
}
