/// SDWebImage's option bits (PROTOCOL §8.5), same numbers, on the wire as well, and one of our
/// own.
public struct RequestOptions: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt32

    /// Takes bits as they are; what they may be is for admission.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Ask the origin although the URL is on the blacklist; a success takes it off.
    public static let retryFailed = RequestOptions(rawValue: 1 << 0)
    /// Class low.
    public static let lowPriority = RequestOptions(rawValue: 1 << 1)
    /// Partial images while the bytes come (SEMANTICS §2.11).
    public static let progressiveLoad = RequestOptions(rawValue: 1 << 2)
    /// A cached image is delivered, and the origin is asked whether it is still the same
    /// (SEMANTICS §6.1).
    public static let refreshCached = RequestOptions(rawValue: 1 << 3)
    /// Go on when the client's connection ends (SEMANTICS §8.5).
    public static let continueInBackground = RequestOptions(rawValue: 1 << 4)
    /// A cookie jar for the transfer.
    public static let handleCookies = RequestOptions(rawValue: 1 << 5)
    /// No check of certificates.
    public static let allowInvalidSSLCertificates = RequestOptions(rawValue: 1 << 6)
    /// Class high; wins over low.
    public static let highPriority = RequestOptions(rawValue: 1 << 7)
    /// Of views: the placeholder only after a failure.
    public static let delayPlaceholder = RequestOptions(rawValue: 1 << 8)
    /// All frames of an animation go through the steps, and the result has them where its format
    /// holds frames (SEMANTICS §11.32).
    public static let transformAnimatedImage = RequestOptions(rawValue: 1 << 9)
    /// Of views: the caller shows the image by itself.
    public static let avoidAutoSetImage = RequestOptions(rawValue: 1 << 10)
    /// Reduce to `RequestLimits.scaleDownBytes`, or to the context's limit of bytes.
    public static let scaleDownLargeImages = RequestOptions(rawValue: 1 << 11)
    /// The bytes as well when the image is in memory: in Imagebus memory holds bytes.
    public static let queryMemoryData = RequestOptions(rawValue: 1 << 12)
    /// The same without waiting.
    public static let queryMemoryDataSync = RequestOptions(rawValue: 1 << 13)
    /// Ask the disk before the call returns: no reply comes before it was asked anyway.
    public static let queryDiskDataSync = RequestOptions(rawValue: 1 << 14)
    /// Never load; a miss is no error.
    public static let fromCacheOnly = RequestOptions(rawValue: 1 << 15)
    /// Ask no cache; the result is stored all the same.
    public static let fromLoaderOnly = RequestOptions(rawValue: 1 << 16)
    /// Of views: a transition also for hits.
    public static let forceTransition = RequestOptions(rawValue: 1 << 17)
    /// No pixels ahead of time: they are made only where steps or the output need them anyway.
    public static let avoidDecodeImage = RequestOptions(rawValue: 1 << 18)
    /// First frame of an animation only; wins over `transformAnimatedImage`.
    public static let decodeFirstFrameOnly = RequestOptions(rawValue: 1 << 19)
    /// All frames of an animation at once, for who plays it: the client library loads them ahead.
    public static let preloadAllFrames = RequestOptions(rawValue: 1 << 20)
    /// Only an animation, or one of its frames, will do; else the load ends with `badImageData`.
    public static let matchAnimatedImageClass = RequestOptions(rawValue: 1 << 21)
    /// Reply after the stores.
    public static let waitStoreCache = RequestOptions(rawValue: 1 << 22)
    /// Transform vector images as well.
    public static let transformVectorImage = RequestOptions(rawValue: 1 << 23)
    /// A new load in the slot of an old one does not cancel the old one.
    public static let avoidAutoCancelImage = RequestOptions(rawValue: 1 << 24)
    /// Of views: the reply after the transition.
    public static let waitTransition = RequestOptions(rawValue: 1 << 25)

    /// What the origin says of freshness counts (SEMANTICS §6.5). Imagebus' own: SDWebImage's grow
    /// from the other end.
    public static let respectCacheControl = RequestOptions(rawValue: 1 << 31)

    /// What this version acts upon.
    public static let effective: RequestOptions = [
        .retryFailed, .lowPriority, .progressiveLoad, .refreshCached, .continueInBackground,
        .highPriority, .transformAnimatedImage, .scaleDownLargeImages, .fromCacheOnly,
        .fromLoaderOnly, .decodeFirstFrameOnly, .preloadAllFrames, .matchAnimatedImageClass,
        .waitStoreCache, .avoidAutoCancelImage, .respectCacheControl,
    ]
    /// What is accepted and changes nothing: it asks for what is always so here, or is a matter of
    /// who shows the image.
    public static let withoutEffect: RequestOptions = [
        .delayPlaceholder, .avoidAutoSetImage, .queryMemoryData, .queryMemoryDataSync,
        .queryDiskDataSync, .forceTransition, .avoidDecodeImage, .transformVectorImage,
        .waitTransition,
    ]
    /// What this version refuses with `notSupported`.
    public static let notSupported: RequestOptions = [
        .handleCookies, .allowInvalidSSLCertificates,
    ]
    /// Every bit that has a meaning.
    public static let known = effective.union(withoutEffect).union(notSupported)
}

extension RequestOptions {
    /// The options by their names on the command line, kebab-case of SDWebImage's, by number.
    public static let names: [(name: String, option: RequestOptions)] = [
        ("retry-failed", .retryFailed), ("low-priority", .lowPriority),
        ("progressive-load", .progressiveLoad), ("refresh-cached", .refreshCached),
        ("continue-in-background", .continueInBackground), ("handle-cookies", .handleCookies),
        ("allow-invalid-ssl-certificates", .allowInvalidSSLCertificates),
        ("high-priority", .highPriority), ("delay-placeholder", .delayPlaceholder),
        ("transform-animated-image", .transformAnimatedImage),
        ("avoid-auto-set-image", .avoidAutoSetImage),
        ("scale-down-large-images", .scaleDownLargeImages),
        ("query-memory-data", .queryMemoryData),
        ("query-memory-data-sync", .queryMemoryDataSync),
        ("query-disk-data-sync", .queryDiskDataSync), ("from-cache-only", .fromCacheOnly),
        ("from-loader-only", .fromLoaderOnly), ("force-transition", .forceTransition),
        ("avoid-decode-image", .avoidDecodeImage),
        ("decode-first-frame-only", .decodeFirstFrameOnly),
        ("preload-all-frames", .preloadAllFrames),
        ("match-animated-image-class", .matchAnimatedImageClass),
        ("wait-store-cache", .waitStoreCache),
        ("transform-vector-image", .transformVectorImage),
        ("avoid-auto-cancel-image", .avoidAutoCancelImage),
        ("wait-transition", .waitTransition),
        ("respect-cache-control", .respectCacheControl),
    ]

    /// The names of those that this version does not refuse, by number.
    public static let offeredNames = names.filter { !notSupported.contains($0.option) }.map(\.name)

    /// The names of the options that are set, in the order of their numbers.
    public var names: [String] {
        Self.names.filter { contains($0.option) }.map(\.name)
    }
}

/// Cache tiers, SDWebImage's numbers: none 0, disk 1, memory 2, all 3.
public struct CacheTypes: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt8

    /// Takes bits as they are.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The disk tier.
    public static let disk = CacheTypes(rawValue: 1)
    /// The memory tier.
    public static let memory = CacheTypes(rawValue: 2)
    /// Both tiers.
    public static let all: CacheTypes = [.disk, .memory]
    /// No tier.
    public static let none: CacheTypes = []

    /// `none`, `disk`, `memory` or `all`: the word in JSON and on the command line.
    public var name: String {
        switch (contains(.disk), contains(.memory)) {
        case (false, false): "none"
        case (true, false): "disk"
        case (false, true): "memory"
        case (true, true): "all"
        }
    }
}

/// The class of a request in every queue. Shared work runs in the highest class of those who wait.
public enum Priority: UInt8, Hashable, Sendable, Comparable, CaseIterable {
    /// Prefetch.
    case low = 0
    /// The default.
    case normal = 1
    /// Somebody is looking at the gap.
    case high = 2

    /// Lower classes are smaller.
    public static func < (left: Priority, right: Priority) -> Bool {
        left.rawValue < right.rawValue
    }

    /// `low`, `normal` or `high`.
    public var name: String {
        switch self {
        case .low: "low"
        case .normal: "normal"
        case .high: "high"
        }
    }
}
