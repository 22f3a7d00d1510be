/// SDWebImage's option bits (PROTOCOL §8.5) with their original numbers, which are also used on the
/// wire, and one option of our own.
public struct RequestOptions: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt32

    /// Accepts any bits; admission validates them.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Retry although the URL is in the failure cache; success removes it from there.
    public static let retryFailed = RequestOptions(rawValue: 1 << 0)
    /// Low priority class.
    public static let lowPriority = RequestOptions(rawValue: 1 << 1)
    /// Deliver partial images while bytes arrive (SEMANTICS §2.11).
    public static let progressiveLoad = RequestOptions(rawValue: 1 << 2)
    /// Deliver a cached image and revalidate it with the origin (SEMANTICS §6.1).
    public static let refreshCached = RequestOptions(rawValue: 1 << 3)
    /// Continue when the client's connection ends (SEMANTICS §8.5).
    public static let continueInBackground = RequestOptions(rawValue: 1 << 4)
    /// Use a cookie jar for the transfer.
    public static let handleCookies = RequestOptions(rawValue: 1 << 5)
    /// Don't verify certificates.
    public static let allowInvalidSSLCertificates = RequestOptions(rawValue: 1 << 6)
    /// High priority class; takes precedence over low.
    public static let highPriority = RequestOptions(rawValue: 1 << 7)
    /// For views: show the placeholder only after a failure.
    public static let delayPlaceholder = RequestOptions(rawValue: 1 << 8)
    /// Apply the steps to all frames of an animation, and keep them in the result if its format can
    /// hold frames (SEMANTICS §11.32).
    public static let transformAnimatedImage = RequestOptions(rawValue: 1 << 9)
    /// For views: the caller displays the image.
    public static let avoidAutoSetImage = RequestOptions(rawValue: 1 << 10)
    /// Scale down to `RequestLimits.scaleDownBytes`, or to the context's byte limit.
    public static let scaleDownLargeImages = RequestOptions(rawValue: 1 << 11)
    /// Include the bytes when the image is in memory; Imagebus always stores bytes in memory.
    public static let queryMemoryData = RequestOptions(rawValue: 1 << 12)
    /// The same, synchronously.
    public static let queryMemoryDataSync = RequestOptions(rawValue: 1 << 13)
    /// Query the disk synchronously; no reply precedes the query anyway.
    public static let queryDiskDataSync = RequestOptions(rawValue: 1 << 14)
    /// Never use the loader; a miss is not an error.
    public static let fromCacheOnly = RequestOptions(rawValue: 1 << 15)
    /// Query no cache; the result is still stored.
    public static let fromLoaderOnly = RequestOptions(rawValue: 1 << 16)
    /// For views: use a transition also for hits.
    public static let forceTransition = RequestOptions(rawValue: 1 << 17)
    /// Don't decode eagerly; pixels are decoded only if steps or the output need them anyway.
    public static let avoidDecodeImage = RequestOptions(rawValue: 1 << 18)
    /// Decode only the first frame of an animation; takes precedence over `transformAnimatedImage`.
    public static let decodeFirstFrameOnly = RequestOptions(rawValue: 1 << 19)
    /// Load all frames of an animation at once for playback: the client library prefetches them.
    public static let preloadAllFrames = RequestOptions(rawValue: 1 << 20)
    /// Accept only an animation or one of its frames; otherwise the load fails with `badImageData`.
    public static let matchAnimatedImageClass = RequestOptions(rawValue: 1 << 21)
    /// Reply only after the results are stored.
    public static let waitStoreCache = RequestOptions(rawValue: 1 << 22)
    /// Transform vector images as well.
    public static let transformVectorImage = RequestOptions(rawValue: 1 << 23)
    /// A new load in a slot doesn't cancel the previous one.
    public static let avoidAutoCancelImage = RequestOptions(rawValue: 1 << 24)
    /// For views: complete after the transition.
    public static let waitTransition = RequestOptions(rawValue: 1 << 25)

    /// Respect the freshness stated by the origin (SEMANTICS §6.5). Specific to Imagebus; assigned
    /// from the highest bit down, away from SDWebImage's.
    public static let respectCacheControl = RequestOptions(rawValue: 1 << 31)

    /// The options that this version implements.
    public static let effective: RequestOptions = [
        .retryFailed, .lowPriority, .progressiveLoad, .refreshCached, .continueInBackground,
        .highPriority, .transformAnimatedImage, .scaleDownLargeImages, .fromCacheOnly,
        .fromLoaderOnly, .decodeFirstFrameOnly, .preloadAllFrames, .matchAnimatedImageClass,
        .waitStoreCache, .avoidAutoCancelImage, .respectCacheControl,
    ]
    /// The options that are accepted without effect: they request default behavior, or concern only
    /// the display of the image.
    public static let withoutEffect: RequestOptions = [
        .delayPlaceholder, .avoidAutoSetImage, .queryMemoryData, .queryMemoryDataSync,
        .queryDiskDataSync, .forceTransition, .avoidDecodeImage, .transformVectorImage,
        .waitTransition,
    ]
    /// The options that this version rejects with `notSupported`.
    public static let notSupported: RequestOptions = [
        .handleCookies, .allowInvalidSSLCertificates,
    ]
    /// All defined bits.
    public static let known = effective.union(withoutEffect).union(notSupported)
}

extension RequestOptions {
    /// The options by their command line names, SDWebImage's in kebab case, in bit order.
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

    /// The names of the options that this version doesn't reject, in bit order.
    public static let offeredNames = names.filter { !notSupported.contains($0.option) }.map(\.name)

    /// The names of the set options, in bit order.
    public var names: [String] {
        Self.names.filter { contains($0.option) }.map(\.name)
    }
}

/// Cache tiers with SDWebImage's numbers: none 0, disk 1, memory 2, all 3.
public struct CacheTypes: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt8

    /// Accepts any bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The disk tier.
    public static let disk = CacheTypes(rawValue: 1)
    /// The memory tier.
    public static let memory = CacheTypes(rawValue: 2)
    /// Both tiers.
    public static let all: CacheTypes = [.disk, .memory]
    /// No tier.
    public static let none: CacheTypes = []

    /// The name in JSON and on the command line: `none`, `disk`, `memory` or `all`.
    public var name: String {
        switch (contains(.disk), contains(.memory)) {
        case (false, false): "none"
        case (true, false): "disk"
        case (false, true): "memory"
        case (true, true): "all"
        }
    }
}

/// The priority class of a request in every queue. Shared work runs in the highest class of its
/// subscribers.
public enum Priority: UInt8, Hashable, Sendable, Comparable, CaseIterable {
    /// For prefetching.
    case low = 0
    /// The default.
    case normal = 1
    /// For images that a user is waiting for.
    case high = 2

    /// Compares priorities; lower classes are smaller.
    public static func < (left: Priority, right: Priority) -> Bool {
        left.rawValue < right.rawValue
    }

    /// The name: `low`, `normal` or `high`.
    public var name: String {
        switch self {
        case .low: "low"
        case .normal: "normal"
        case .high: "high"
        }
    }
}
