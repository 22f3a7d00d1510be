/// The limits of an image (SEMANTICS §9.8).
public struct ImageLimits: Hashable, Sendable {
    /// The maximum number of columns or rows of the decoded image.
    public var sideMax: Int
    /// The maximum number of pixels (columns × rows) of an image, or of each frame, as decoded.
    public var pixelsMax: Int
    /// The maximum number of bytes of pixels after downscaling, of all frames decoded together.
    public var pixelBytesMax: Int
    /// The maximum number of pages.
    public var pagesMax: Int
    /// The maximum number of bytes of profile, EXIF, XMP and other texts.
    public var metadataBytesMax: Int

    /// Creates limits. The defaults are generous for photographs and small enough for one machine:
    /// 32,767 per side, 100 megapixels, 512 MiB of pixels, 10,000 pages, 16 MiB of metadata.
    public init(
        sideMax: Int = 32_767, pixelsMax: Int = 100_000_000, pixelBytesMax: Int = 512 << 20,
        pagesMax: Int = 10_000, metadataBytesMax: Int = 16 << 20
    ) {
        self.sideMax = sideMax
        self.pixelsMax = pixelsMax
        self.pixelBytesMax = pixelBytesMax
        self.pagesMax = pagesMax
        self.metadataBytesMax = metadataBytesMax
    }

    /// The limits that every decoder enforces, whatever its job permits.
    public static let ofWorkers = ImageLimits(
        sideMax: LimitSetting.side.range.upperBound,
        pixelsMax: LimitSetting.pixels.range.upperBound,
        pixelBytesMax: 4 * LimitSetting.pixels.range.upperBound,
        pagesMax: LimitSetting.pages.range.upperBound,
        metadataBytesMax: LimitSetting.metadata.range.upperBound)

    /// The same for decoders of vector drawings, where rendering may need several times the memory
    /// of the pixels.
    public static let ofDrawings: ImageLimits = {
        var limits = ofWorkers
        limits.sideMax = min(limits.sideMax, 16_384)
        limits.pixelsMax = min(limits.pixelsMax, 16 << 20)
        limits.pixelBytesMax = 4 * limits.pixelsMax
        return limits
    }()

    /// The total private memory of a decode process, which it sets as its data limit (RLIMIT_DATA).
    /// The limits for decode and transform processes in `systemd/` and `docker/compose.yaml`
    /// accommodate it together with what they write to shared memory.
    public static let processBytesMax: UInt64 = 1_280 << 20
    /// Returns the memory limit in bytes for the control group of such a process: its private
    /// memory plus the shared memory that it writes, which is the arena size of its kind in
    /// `docker/compose.yaml`.
    public static func groupBytes(_ kind: WorkerKind) -> UInt64? {
        switch kind {
        case .decode: processBytesMax + 768 << 20
        case .transform: processBytesMax + 384 << 20
        case .coordinator, .download, .cache: nil
        }
    }

    /// The part of it available for decoding an image; the rest is the baseline of the process.
    public static let decoderBytesMax = 1 << 30

    /// Returns the limits that the decoders of a family enforce.
    public static func of(_ family: FormatFamily) -> ImageLimits {
        switch family {
        case .raster: ofWorkers
        case .vector: ofDrawings
        }
    }

    /// Returns the stricter of each pair of limits.
    public func clamped(to others: ImageLimits) -> ImageLimits {
        ImageLimits(
            sideMax: min(sideMax, others.sideMax), pixelsMax: min(pixelsMax, others.pixelsMax),
            pixelBytesMax: min(pixelBytesMax, others.pixelBytesMax),
            pagesMax: min(pagesMax, others.pagesMax),
            metadataBytesMax: min(metadataBytesMax, others.metadataBytesMax))
    }

    /// Returns the limits, tightened by a configuration.
    public func narrowed(by settings: LimitSettings) -> ImageLimits {
        var limits = self
        limits.sideMax = settings.narrowed(sideMax, by: .side)
        limits.pixelsMax = settings.narrowed(pixelsMax, by: .pixels)
        limits.pagesMax = settings.narrowed(pagesMax, by: .pages)
        limits.metadataBytesMax = settings.narrowed(metadataBytesMax, by: .metadata)
        return limits
    }
}

extension ImageLimits {
    /// Returns whether the properties reported by a decoder are within the limits: those of the
    /// image decoded for a need, or of the whole image if no pixels are needed. Each frame counts
    /// separately.
    package func permit(_ info: ImageInfo, for need: DecodeNeed) -> Bool {
        guard info.size.isPositive, max(info.size.width, info.size.height) <= Int(Int32.max),
            info.pages > 0, info.pages <= pagesMax
        else { return false }
        let size = need.decodedSize(of: info)
        guard max(size.width, size.height) <= sideMax, let area = size.area else { return false }
        return area <= pixelsMax
    }
}
