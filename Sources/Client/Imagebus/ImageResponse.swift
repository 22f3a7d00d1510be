import Linux
public import Model

/// The result of a successful load. Copies are cheap: they share the bytes and the metadata.
public struct ImageResponse: Sendable {
    /// Whether a response contains an image.
    public enum Status: String, Hashable, Sendable {
        /// There is an image.
        case ok
        /// No cache has the image, and `fromCacheOnly` was set. This is not an error.
        case miss
    }

    let account: ImageAccount

    /// Whether there is an image.
    public var status: Status { account.status }
    /// The format and size of the image, among others; `nil` for a miss.
    public var info: ImageInfo? { status == .ok ? account.image.info : nil }
    /// The requested image properties (`ImageRequest.properties`); `nil` for a miss and if none
    /// were requested.
    public var properties: ImageProperties? { account.image.properties }
    /// How the image was produced (`ImageRequest.wantsExplanation`); `nil` for a miss and if not
    /// requested.
    public var explanation: Explanation? { account.image.explanation }
    /// The tier that had the image, or the original that it was produced from (then
    /// `timings.transform` is not 0). None if the original was fetched, and for a miss.
    public var cacheType: CacheTypes { account.image.cacheType }
    /// The text form of the image's cache key.
    public var key: String { account.image.key }
    /// The time spent in each stage.
    public var timings: StageTimings { account.timings }
    /// The encoded bytes; `nil` for a miss and if only image properties were requested.
    public internal(set) var bytes: ImageBytes?
    /// With `waitStoreCache`, the tiers that have stored the image.
    public var storedTiers: CacheTypes? { account.image.storedTiers }
    /// The scale factor in pixels per point: from the request or, failing that, from the key; 1 for
    /// a miss.
    public var scaleFactor: Double { account.image.scaleFactor }
    /// Why this is the request's fallback image (`RequestContext.fallback`); `nil` if it is the
    /// requested image.
    public var fallbackFor: ImageError? { account.image.fallbackFor }
    /// How long the image may be used according to its origin, and the validators that identify it
    /// there (`RequestOptions.respectCacheControl`, `ImageRequest.wantsExplanation`). `nil` if not
    /// requested or not known.
    public var validity: Validity? { account.image.validity }
    /// The SHA-256 digest of the bytes (SEMANTICS §5.22); `nil` if only image properties were
    /// requested and no cache entry answered.
    public var digest: ContentDigest? { account.image.digest }
    /// The extended data stored with the entry, or with the entry it was produced from
    /// (`RequestContext.wantsExtendedData`); `nil` if not requested or if there is none.
    public var extendedData: ExtendedData? { account.image.extendedData }
    /// Whether the source is damaged and its missing pixels are transparent, black or gray
    /// (`RequestContext.damaged`).
    public var isDamaged: Bool { account.image.isDamaged }
    /// For a partial image, the number of source bytes it was decoded from; the load continues
    /// (`RequestOptions.progressiveLoad`). `nil` for a complete image.
    public internal(set) var arrivedBytes: UInt64?
    /// The lease under which this answer may be used again, which can be checked for validity;
    /// `nil` if it may not be used again without asking the coordinator.
    public internal(set) var voucher: AnswerVoucher?
    /// Whether it replaces a cached image that was delivered before as `LoadTask.cachedResponse`
    /// (`refreshCached`).
    public internal(set) var isRefreshed = false

    init(_ account: ImageAccount, _ bytes: ImageBytes?) {
        (self.account, self.bytes) = (account, bytes)
    }
}

/// A reply with an image or a miss, without the bytes: created once and shared by all responses it
/// applies to.
final class ImageAccount: Sendable {
    let status: ImageResponse.Status
    let image: DeliveredImage
    let timings: StageTimings

    init(of image: DeliveredImage, _ timings: StageTimings) {
        (status, self.image, self.timings) = (.ok, image, timings)
    }

    /// Creates the account of a cache miss.
    init(missOf key: String, _ timings: StageTimings) {
        let nothing = ImageInfo(format: .undefined, size: PixelSize(width: 0, height: 0))
        image = DeliveredImage(reference: nil, info: nothing, cacheType: .none, key: key)
        (status, self.timings) = (.miss, timings)
    }

    /// The same image as an answer from the memory tier.
    var ofMemory: ImageAccount {
        var image = image
        image.cacheType = .memory
        (image.storedTiers, image.fallbackFor, image.extendedData) = (nil, nil, nil)
        return ImageAccount(of: image, StageTimings())
    }
}

/// The bytes of an image. Below 1 MiB they are a copy. From 1 MiB on they are a mapping of shared
/// memory, which the stack may reuse once this object is released; if they arrived in chunks, they
/// are in process memory whatever their size. Read-only. Can be used from any thread.
public final class ImageBytes: Sendable {
    /// A class, because an optional property of a noncopyable type could not be borrowed.
    private final class Mapping: Sendable {
        let memory: MappedMemory
        let offset: Int

        init(_ memory: consuming MappedMemory, offset: Int) {
            self.memory = memory
            self.offset = offset
        }
    }

    private let copy: PooledBuffer
    private let mapping: Mapping?
    private let release: (@Sendable () -> Void)?
    /// The number of bytes.
    public let count: Int

    init(_ copy: consuming PooledBuffer) {
        (mapping, release) = (nil, nil)
        count = copy.count
        self.copy = copy
    }

    /// Creates bytes that arrived in chunks.
    convenience init(_ chunks: [UInt8]) { self.init(PooledBuffer(of: chunks)) }

    init(
        mapped memory: consuming MappedMemory, offset: Int, count: Int,
        release: @escaping @Sendable () -> Void
    ) {
        copy = PooledBuffer()
        mapping = Mapping(memory, offset: offset)
        self.release = release
        self.count = count
    }

    deinit { release?() }

    /// Calls `body` with the bytes, which are valid only during the call.
    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(lastingBytes)
    }

    /// The bytes in place, valid and unchanged while this object is alive.
    public var lastingBytes: UnsafeRawBufferPointer {
        guard let mapping else { return copy.bytes }
        let payload = mapping.memory.bytes[mapping.offset..<(mapping.offset + count)]
        return UnsafeRawBufferPointer(rebasing: payload)
    }

    /// Whether the bytes are a mapping of shared memory, which cannot be written.
    package var isMapped: Bool { mapping != nil }

    /// The bytes of memory held.
    var heldBytes: Int { mapping == nil ? copy.heldBytes : count }

    /// The same bytes in this process's memory, so that no memory of the stack is held.
    var ofThisProcess: ImageBytes { mapping == nil ? self : ImageBytes(array) }

    /// A copy of the bytes.
    public var array: [UInt8] { withUnsafeBytes { Array($0) } }
}

/// The pixels of an image requested in that form (`OutputOptions.pixels`): 8-bit sRGB or gray with
/// straight alpha, rows from top to bottom. They are not copied: from 1 MiB on they stay in the
/// stack's shared memory, which this value holds. Can be used from any thread.
public struct ImagePixels: Sendable {
    /// The samples of a pixel, in byte order.
    public enum Format: Int, Hashable, Sendable {
        /// Gray, one byte.
        case gray8 = 1
        /// Gray and alpha, two bytes.
        case grayAlpha8 = 2
        /// Red, green and blue, three bytes.
        case rgb8 = 3
        /// Red, green, blue and alpha, four bytes.
        case rgba8 = 4

        /// The number of bytes per pixel.
        public var bytesPerPixel: Int { rawValue }
    }

    /// Width and height in pixels.
    public let size: PixelSize
    /// The format of a pixel.
    public let format: Format
    private let bytes: ImageBytes

    init?(_ bytes: ImageBytes) {
        guard let header = bytes.withUnsafeBytes({ PixelMapHeader($0) }),
            let format = Format(rawValue: header.bands)
        else { return nil }
        (size, self.format, self.bytes) = (header.size, format, bytes)
    }

    /// The number of bytes from one row to the next; rows have no padding.
    public var stride: Int { size.width * format.bytesPerPixel }

    /// Calls `body` with all samples, `stride` × height bytes, which are valid only during the
    /// call.
    public func withSpan<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try bytes.withUnsafeBytes { all throws(Failure) in
            let samples = UnsafeRawBufferPointer(rebasing: all[PixelMapHeader.byteCount...])
            return try body(samples.bindMemory(to: UInt8.self).span)
        }
    }

    /// The samples in place, valid and unchanged while the response or this value is alive.
    public var lastingBytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes.lastingBytes[PixelMapHeader.byteCount...])
    }
}

extension ImageResponse {
    /// The pixels, or `nil` if they were not requested (`OutputOptions.pixels`).
    public var pixels: ImagePixels? {
        info?.format == .pam ? bytes.flatMap { ImagePixels($0) } : nil
    }
}

extension OutputOptions {
    /// Uncompressed pixels for a program that draws them (`ImageResponse.pixels`). The format is
    /// PAM, which other programs can read too.
    public static var pixels: OutputOptions { OutputOptions(format: .pam) }
}
