public import ImageModel

/// How decoded pixels lie in their block (PROTOCOL §7.1): in one plane, their samples interleaved;
/// or in three planes of one sample each, as a JPEG has them: Y, Cb and Cr of BT.601 in full
/// range (JFIF 1.02), the colours with as many samples as the image has or with fewer, sited in
/// the middle of those that they stand for.
public struct PixelLayout: Hashable, Sendable {
    /// One, or three with one band each.
    public var planes: [PixelPlane]
    /// What is still to be done to display them.
    public var orientation: Orientation
    /// What the samples are; in three planes as usual.
    public var samples = SampleForm.usual
    /// Of frames that lie one behind the other, all like the first one, which is what the plane
    /// says: how long each is shown, and how often all.
    public var animation: AnimationFacts?
    /// What lies in the block beside the pixels; each kind once.
    public var enclosures: [Enclosure] = []

    /// Planes as a decoder made them.
    public init(planes: [PixelPlane], orientation: Orientation) {
        self.planes = planes
        self.orientation = orientation
    }

    /// Interleaved pixels as they are displayed, the whole block unless said otherwise.
    public init(
        bands: PixelPlane.Bands, size: PixelSize, stride: Int, samples: SampleForm = .usual,
        activeWidth: Double? = nil, activeHeight: Double? = nil
    ) {
        let plane = PixelPlane(
            bands: bands, size: size, stride: stride, activeWidth: activeWidth,
            activeHeight: activeHeight)
        self.init(planes: [plane], orientation: .upright)
        self.samples = samples
    }

    /// Brightness and colours lie apart.
    public var isPlanar: Bool { planes.count == Self.planesMax }

    /// Planes at most.
    public static let planesMax = 3

    /// Bytes of the block that the pixels and what lies beside them take; `nil` where that
    /// overflows or makes no sense.
    public var byteCount: Int? {
        guard var count = pixelByteCount, Set(enclosures.map(\.kind)).count == enclosures.count
        else { return nil }
        for enclosure in enclosures {
            guard let end = enclosure.end else { return nil }
            count = max(count, end)
        }
        return count
    }

    /// Bytes of the block that the pixels take; `nil` where that overflows or makes no sense.
    public var pixelByteCount: Int? {
        guard planes.count == 1 || isPlanar && planes.allSatisfy({ $0.bands == .grey }),
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

    /// Frames that lie in the block, at least one.
    public var frames: Int { animation.map { max(1, $0.durations.count) } ?? 1 }

    /// The bytes of one frame in those of all.
    public func bytes(ofFrame index: Int) -> Range<Int>? {
        guard let pixelByteCount, (0..<frames).contains(index) else { return nil }
        let count = pixelByteCount / frames
        return index * count..<(index + 1) * count
    }

    /// The same of one frame, which lies at the start.
    public var still: PixelLayout {
        var layout = self
        layout.animation = nil
        return layout
    }

    /// Frames are at least two, of four bands of 8 bits, and whole.
    private var mayHaveFrames: Bool {
        guard let animation else { return true }
        return (2...AnimationFacts.framesMax).contains(animation.durations.count)
            && planes.count == 1 && planes[0].bands == .rgba && planes[0].offset == 0
            && planes[0].isWhole && samples == .usual
    }

    /// Planes that lie apart have 8 bits, and only red, green and blue have a high dynamic range.
    private var mayHaveSamples: Bool {
        guard samples != .usual else { return true }
        let hasColours = planes.allSatisfy { $0.bands == .rgb || $0.bands == .rgba }
        return samples.isPossible && planes.count == 1 && (samples.hdr == nil || hasColours)
    }

    /// Whether of every plane all is image but for a fraction of the last column and row.
    public var isActive: Bool { planes.allSatisfy(\.isActive) }
}

/// Samples in rows, of one colour or of several next to each other: a part of a block. Rows are top
/// to bottom.
public struct PixelPlane: Hashable, Sendable {
    /// Samples of a pixel, next to each other.
    public enum Bands: UInt8, Hashable, Sendable, CaseIterable {
        /// One sample: grey, or the one colour of this plane.
        case grey = 1
        /// Grey and straight alpha.
        case greyAlpha = 2
        /// Red, green, blue.
        case rgb = 3
        /// Red, green, blue and straight alpha.
        case rgba = 4
    }

    /// The samples of a pixel.
    public var bands: Bands
    /// Bytes from the start of the block to the first sample.
    public var offset: Int
    /// Columns and rows in the block.
    public var size: PixelSize
    /// Bytes from one row to the next, at least columns × bands × bytes of a sample.
    public var stride: Int
    /// Columns that are image, a fraction where a reduced source does not fill the last one
    /// (2725 / 4 = 681.25 of 682). Greater than `size.width` − 1, at most `size.width`.
    public var activeWidth: Double
    /// Rows that are image, likewise.
    public var activeHeight: Double

    /// Describes samples; the whole is active unless said otherwise.
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

    /// Bytes from its first sample to the end of its last row: stride × rows; `nil` where that
    /// overflows or makes no sense, or where samples of two bytes do not begin at even ones.
    public func byteCount(_ samples: SampleForm = .usual) -> Int? {
        let bytes = samples.bytes
        guard size.isPositive, offset.isMultiple(of: bytes), stride.isMultiple(of: bytes),
            let row = Self.product(size.width, Int(bands.rawValue) * bytes), stride >= row
        else { return nil }
        return Self.product(stride, size.height)
    }

    /// Bytes from the start of the block to the end of its last row.
    func end(_ samples: SampleForm) -> Int? {
        guard offset >= 0, let byteCount = byteCount(samples) else { return nil }
        let (end, overflow) = offset.addingReportingOverflow(byteCount)
        return overflow ? nil : end
    }

    /// Whether the active part is the image but for a fraction of the last column and row.
    public var isActive: Bool {
        Self.reaches(size.width, activeWidth) && Self.reaches(size.height, activeHeight)
    }

    /// Whether all of it is image.
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
    /// How the pixels of a PAM lie behind its header, which has as many bytes in each
    /// (`PixelMapHeader`): so the number of all bytes says how many samples a pixel has. `nil` for
    /// other formats, and where it is none that the size and the alpha channel leave.
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
    fileprivate var hasAlpha: Bool { self == .greyAlpha || self == .rgba }
}

/// Bytes of a source that go into results beside its pixels, and where they lie in the block of
/// these (PROTOCOL §7.1). Who reads them trusts them no more than the source.
public struct Enclosure: Hashable, Sendable {
    /// What they are; the number on the wire.
    public enum Kind: UInt8, Hashable, Sendable, CaseIterable {
        /// An ICC profile of red, green and blue, or of grey.
        case profile = 1
        /// EXIF, from the header of its TIFF on.
        case exif = 2
        /// An XMP packet.
        case xmp = 3
        /// Records of IPTC-IIM.
        case iptc = 4

        /// Bytes at most: 4 MiB of a profile, of others what one segment of a JPEG holds.
        public var bytesMax: Int { self == .profile ? 4 << 20 : 65_500 }
    }

    /// What they are.
    public var kind: Kind
    /// From the first byte of the block's reference.
    public var offset: Int
    /// At least 1.
    public var length: Int

    /// Names bytes.
    public init(kind: Kind, offset: Int, length: Int) {
        (self.kind, self.offset, self.length) = (kind, offset, length)
    }

    /// Where the bytes end; `nil` where the numbers make no sense.
    public var end: Int? {
        guard offset >= 0, (1...kind.bytesMax).contains(length) else { return nil }
        let (end, overflows) = offset.addingReportingOverflow(length)
        return overflows ? nil : end
    }

    /// Which wishes may bring it.
    package var wishes: KeptParts {
        kind == .profile ? [.profile, .greyProfile] : [.rights, .metadata]
    }
}
