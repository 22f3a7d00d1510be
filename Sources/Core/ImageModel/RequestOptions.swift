/// SDWebImage's option bits (sdwebimage.md §2.1), same numbers, on the wire as well.
public struct RequestOptions: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt32

    /// Takes bits as they are; unknown ones are refused at admission.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Ask the origin although the URL is on the blacklist.
    public static let retryFailed = RequestOptions(rawValue: 1 << 0)
    /// Class low.
    public static let lowPriority = RequestOptions(rawValue: 1 << 1)
    /// Class high; wins over low.
    public static let highPriority = RequestOptions(rawValue: 1 << 7)
    /// Never load; a miss is no error.
    public static let fromCacheOnly = RequestOptions(rawValue: 1 << 15)
    /// Ask no cache; the result is stored all the same.
    public static let fromLoaderOnly = RequestOptions(rawValue: 1 << 16)
    /// First frame of an animation only; this version never decodes more.
    public static let decodeFirstFrameOnly = RequestOptions(rawValue: 1 << 19)
    /// Reply after the stores.
    public static let waitStoreCache = RequestOptions(rawValue: 1 << 22)

    /// What this version knows.
    public static let supported: RequestOptions = [
        .retryFailed, .lowPriority, .highPriority, .fromCacheOnly, .fromLoaderOnly,
        .decodeFirstFrameOnly, .waitStoreCache,
    ]
}

extension RequestOptions {
    /// The options by their names on the command line: kebab-case of SDWebImage's.
    public static let names: [(name: String, option: RequestOptions)] = [
        ("retry-failed", .retryFailed), ("low-priority", .lowPriority),
        ("high-priority", .highPriority), ("from-cache-only", .fromCacheOnly),
        ("from-loader-only", .fromLoaderOnly), ("decode-first-frame-only", .decodeFirstFrameOnly),
        ("wait-store-cache", .waitStoreCache),
    ]
}
