public import ImageModel
import Linux
public import Messages

/// How a load ended well. A copy of it costs little: it shares the bytes, and what is said of them.
public struct ImageResponse: Sendable {
    /// Whether there is an image.
    public enum Status: String, Hashable, Sendable {
        /// There is.
        case ok
        /// `fromCacheOnly`, and no cache has it: no error.
        case miss
    }

    let account: ImageAccount

    /// Whether there is an image.
    public var status: Status { account.status }
    /// What it is; `nil` for a miss.
    public var info: ImageInfo? { account.info }
    /// Facts that were asked for (`ImageRequest.facts`); `nil` for a miss and where none were.
    public var facts: ImageFacts? { account.facts }
    /// How the image came about (`ImageRequest.wantsExplanation`); `nil` for a miss and where
    /// nobody asked.
    public var explanation: Explanation? { account.explanation }
    /// Which tier had it, or the original of which it was made (`timings.transform` is not 0 then);
    /// none where that was fetched, and for a miss.
    public var cacheType: CacheTypes { account.cacheType }
    /// The text of its cache key.
    public var key: String { account.key }
    /// Where the time went.
    public var timings: StageTimings { account.timings }
    /// The encoded bytes; `nil` for a miss and where only facts were asked for.
    public internal(set) var bytes: ImageBytes?
    /// Under `waitStoreCache`, the tiers that have it.
    public var storedTiers: CacheTypes? { account.storedTiers }
    /// Points per pixel: of the request, else by its key; 1 for a miss.
    public var scaleFactor: Double { account.scaleFactor }
    /// Why this is the fallback of the request (`RequestContext.fallback`); `nil`: it is the image.
    public var fallbackFor: ImageError? { account.fallbackFor }
    /// Until when it may be used as its origin says, and by what that knows it again
    /// (`RequestOptions.respectCacheControl`, `ImageRequest.wantsExplanation`); `nil` where nobody
    /// asked, and where nothing is known.
    public var validity: Validity? { account.validity }
    /// SHA-256 of the bytes (SEMANTICS §5.22); `nil` where only facts were asked for that no entry
    /// answered.
    public var digest: ContentDigest? { account.digest }
    /// The bytes that were put with the entry, or with the one it was made of
    /// (`RequestContext.wantsExtendedData`); `nil` if nobody asked, or there are none.
    public var extendedData: ExtendedData? { account.extendedData }
    /// Whether the source is damaged and its missing pixels are transparent, black or grey
    /// (`RequestContext.damaged`).
    public var isDamaged: Bool { account.isDamaged }
    /// The image is partial: it was made of so many bytes of its source, and the load goes on
    /// (`RequestOptions.progressiveLoad`); `nil` for a whole image.
    public internal(set) var arrivedBytes: UInt64?
    /// Says whether this answer still stands; `nil` for one that may not be given again without
    /// asking.
    public internal(set) var voucher: AnswerVoucher?
    /// Whether it takes the place of a cached image, which `LoadTask.cachedResponse` has
    /// (`refreshCached`).
    public internal(set) var isRefreshed = false

    init(_ account: ImageAccount, _ bytes: ImageBytes?) {
        (self.account, self.bytes) = (account, bytes)
    }
}

/// What a reply says of its image, apart from the bytes: written once, and shared by all responses
/// to which it applies.
final class ImageAccount: Sendable {
    let status: ImageResponse.Status
    let info: ImageInfo?
    let facts: ImageFacts?
    let explanation: Explanation?
    let cacheType: CacheTypes
    let key: String
    let timings: StageTimings
    let storedTiers: CacheTypes?
    let scaleFactor: Double
    let fallbackFor: ImageError?
    let validity: Validity?
    let digest: ContentDigest?
    let extendedData: ExtendedData?
    let isDamaged: Bool

    /// Of an image.
    init(of image: DeliveredImage, _ timings: StageTimings) {
        status = .ok
        info = image.info
        facts = image.facts
        explanation = image.explanation
        cacheType = image.cacheType
        key = image.key
        self.timings = timings
        storedTiers = image.storedTiers
        scaleFactor = image.scaleFactor
        fallbackFor = image.fallbackFor
        validity = image.validity
        digest = image.digest
        extendedData = image.extendedData
        isDamaged = image.isDamaged
    }

    /// Of a miss.
    init(missOf key: String, _ timings: StageTimings) {
        status = .miss
        (info, facts, explanation, storedTiers) = (nil, nil, nil, nil)
        cacheType = .none
        self.key = key
        self.timings = timings
        scaleFactor = 1
        (fallbackFor, validity, digest, extendedData) = (nil, nil, nil, nil)
        isDamaged = false
    }

    /// Of the same image, as an answer of the memory tier.
    init(ofMemory other: ImageAccount) {
        status = other.status
        info = other.info
        facts = other.facts
        explanation = other.explanation
        cacheType = .memory
        key = other.key
        timings = StageTimings()
        scaleFactor = other.scaleFactor
        validity = other.validity
        digest = other.digest
        (storedTiers, fallbackFor, extendedData) = (nil, nil, nil)
        isDamaged = other.isDamaged
    }
}

/// The bytes of an image: a copy below 1 MiB, a mapping of shared memory from there on, which the
/// stack may use again once this object has gone; memory of its own, however large, where they came
/// in pieces. Any thread; read-only.
public final class ImageBytes: Sendable {
    /// A class, because a noncopyable value cannot be an optional property that is borrowed.
    private final class Mapping: Sendable {
        let memory: MappedMemory
        let offset: Int

        init(_ memory: consuming MappedMemory, offset: Int) {
            self.memory = memory
            self.offset = offset
        }
    }

    private let copy: CopyBuffer
    private let mapping: Mapping?
    private let release: (@Sendable () -> Void)?
    /// How many.
    public let count: Int

    init(_ copy: consuming CopyBuffer) {
        (mapping, release) = (nil, nil)
        count = copy.count
        self.copy = copy
    }

    /// What came in pieces.
    convenience init(_ pieces: [UInt8]) { self.init(CopyBuffer(of: pieces)) }

    init(
        mapped memory: consuming MappedMemory, offset: Int, count: Int,
        release: @escaping @Sendable () -> Void
    ) {
        copy = CopyBuffer()
        mapping = Mapping(memory, offset: offset)
        self.release = release
        self.count = count
    }

    deinit { release?() }

    /// Lends the bytes; they are valid within the call only.
    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(lastingBytes)
    }

    /// The bytes where they lie, valid and unchanged for as long as this object lives.
    public var lastingBytes: UnsafeRawBufferPointer {
        guard let mapping else { return copy.bytes }
        let payload = mapping.memory.bytes[mapping.offset..<(mapping.offset + count)]
        return UnsafeRawBufferPointer(rebasing: payload)
    }

    /// Whether they are a mapping of shared memory, which cannot be written.
    package var isMapped: Bool { mapping != nil }

    /// Bytes of memory that it holds.
    var heldBytes: Int { mapping == nil ? copy.heldBytes : count }

    /// The same bytes in memory of this process, so that nothing of the stack is held.
    var ofThisProcess: ImageBytes { mapping == nil ? self : ImageBytes(array) }

    /// A copy.
    public var array: [UInt8] { withUnsafeBytes { Array($0) } }
}

/// The pixels of an image that was asked for as such (`OutputOptions.pixels`): 8 bits, sRGB or
/// grey, alpha straight, rows from the top. They lie where the stack put them: from 1 MiB on in
/// shared memory, which they hold, without a copy. Any thread.
public struct ImagePixels: Sendable {
    /// What the samples of a pixel are, in the order of their bytes.
    public enum Format: Int, Hashable, Sendable {
        /// One byte.
        case grey8 = 1
        /// Two bytes.
        case greyAlpha8 = 2
        /// Three bytes: red, green, blue.
        case rgb8 = 3
        /// Four bytes: red, green, blue, alpha.
        case rgba8 = 4

        /// Bytes of a pixel.
        public var bytesPerPixel: Int { rawValue }
    }

    /// Columns and rows.
    public let size: PixelSize
    /// What a pixel is.
    public let format: Format
    private let bytes: ImageBytes

    init?(_ bytes: ImageBytes) {
        guard let header = bytes.withUnsafeBytes({ PixelMapHeader($0) }),
            let format = Format(rawValue: header.bands)
        else { return nil }
        (size, self.format, self.bytes) = (header.size, format, bytes)
    }

    /// Bytes from one row to the next; there is nothing between rows.
    public var stride: Int { size.width * format.bytesPerPixel }

    /// Lends all samples, `stride` × height bytes; they are valid within the call only.
    public func withSpan<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try bytes.withUnsafeBytes { all throws(Failure) in
            let samples = UnsafeRawBufferPointer(rebasing: all[PixelMapHeader.byteCount...])
            return try body(samples.bindMemory(to: UInt8.self).span)
        }
    }

    /// The samples where they lie, valid and unchanged for as long as the response or this value
    /// lives.
    public var lastingBytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes.lastingBytes[PixelMapHeader.byteCount...])
    }
}

extension ImageResponse {
    /// Its pixels; `nil` where they were not asked for (`OutputOptions.pixels`).
    public var pixels: ImagePixels? {
        info?.format == .pam ? bytes.flatMap { ImagePixels($0) } : nil
    }
}

extension OutputOptions {
    /// Pixels as they are, for a program that draws them (`ImageResponse.pixels`): PAM, which other
    /// programs read as well.
    public static var pixels: OutputOptions { OutputOptions(format: .pam) }
}
