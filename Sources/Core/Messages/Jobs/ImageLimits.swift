public import ImageModel

/// Limits of an image (SEMANTICS §9.8).
public struct ImageLimits: Hashable, Sendable {
    /// Columns or rows of what is decoded at most.
    public var sideMax: Int
    /// Columns × rows of an image, or of each frame, as it is decoded, at most.
    public var pixelsMax: Int
    /// Bytes of pixels at most, after reduction; those of all frames that are decoded together.
    public var pixelBytesMax: Int
    /// Pages at most.
    public var pagesMax: Int
    /// Bytes of profile, EXIF, XMP and other texts at most.
    public var metadataBytesMax: Int

    /// Generous for photographs, small enough for a machine: 32,767 a side, 100 megapixels,
    /// 512 MiB of pixels, 10,000 pages, 16 MiB of metadata.
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

    /// What a decoder never goes beyond, whatever its job says.
    public static let ofWorkers = ImageLimits(
        sideMax: LimitSetting.side.range.upperBound,
        pixelsMax: LimitSetting.pixels.range.upperBound,
        pixelBytesMax: 4 * LimitSetting.pixels.range.upperBound,
        pagesMax: LimitSetting.pages.range.upperBound,
        metadataBytesMax: LimitSetting.metadata.range.upperBound)

    /// The same of those that draw: what a drawing does with its pixels may take several times
    /// their memory.
    public static let ofDrawings: ImageLimits = {
        var limits = ofWorkers
        limits.sideMax = min(limits.sideMax, 16_384)
        limits.pixelsMax = min(limits.pixelsMax, 16 << 20)
        limits.pixelBytesMax = 4 * limits.pixelsMax
        return limits
    }()

    /// Private memory of a decode process in all, which it sets as its data limit (RLIMIT_DATA).
    /// The limits that `systemd/` and `docker/compose.yaml` give to decode and transform processes
    /// have room for it and for what they write to shared memory.
    public static let processBytesMax: UInt64 = 1_280 << 20
    /// Bytes that the control group of such a process needs: besides its private memory what it
    /// writes to shared memory, as much as `docker/compose.yaml` gives to the arena of its kind.
    public static func groupBytes(_ kind: WorkerKind) -> UInt64? {
        switch kind {
        case .decode: processBytesMax + 768 << 20
        case .transform: processBytesMax + 384 << 20
        case .coordinator, .download, .cache: nil
        }
    }

    /// Of it, what decoding one image may take: the rest is what a process has before that.
    public static let decoderBytesMax = 1 << 30

    /// What the decoders of a family never go beyond.
    public static func of(_ family: FormatFamily) -> ImageLimits {
        switch family {
        case .raster: ofWorkers
        case .vector: ofDrawings
        }
    }

    /// Each limit as it is, or that of `others` where that is less.
    public func held(to others: ImageLimits) -> ImageLimits {
        ImageLimits(
            sideMax: min(sideMax, others.sideMax), pixelsMax: min(pixelsMax, others.pixelsMax),
            pixelBytesMax: min(pixelBytesMax, others.pixelBytesMax),
            pagesMax: min(pagesMax, others.pagesMax),
            metadataBytesMax: min(metadataBytesMax, others.metadataBytesMax))
    }

    /// The same, narrower where a configuration says so.
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
    /// Whether an image may be what a decoder says that it is: what is decoded of it for a need is
    /// within the limits, or all of it if no pixels are needed. Frames count one by one.
    package func permit(_ info: ImageInfo, for need: DecodeNeed) -> Bool {
        guard info.size.isPositive, max(info.size.width, info.size.height) <= Int(Int32.max),
            info.pages > 0, info.pages <= pagesMax
        else { return false }
        let size = need.decodedSize(of: info)
        guard max(size.width, size.height) <= sideMax, let area = size.area else { return false }
        return area <= pixelsMax
    }
}
