public import FoundationEssentials
public import ImageModel
public import Imagebus
public import Messages

extension Data {
    /// A copy, which is the caller's own.
    public init(_ bytes: ImageBytes) {
        self = bytes.withUnsafeBytes { Data($0) }
    }

    /// The bytes where they lie, without a copy, where they are a mapping of shared memory (from
    /// 1 MiB on); else a copy. It and its copies keep `bytes`, so the stack cannot use that memory
    /// again before the last of them has gone.
    ///
    /// For reading: the memory may not be written. What grows it, and what changes one of several
    /// copies, copies first; but a change in place of the only one (`data[0] = 1`) ends the
    /// process. Who changes bytes takes `Data(bytes)`.
    public init(sharing bytes: ImageBytes) {
        let lasting = bytes.lastingBytes
        guard bytes.isMapped, let start = lasting.baseAddress else {
            self.init(bytes)
            return
        }
        self.init(
            bytesNoCopy: UnsafeMutableRawPointer(mutating: start), count: lasting.count,
            deallocator: .custom { _, _ in withExtendedLifetime(bytes) {} })
    }
}

extension ImageResponse {
    /// A copy of the encoded bytes; `nil` for a miss and where only facts were asked for.
    public var data: Data? { bytes.map { Data($0) } }
}

// Images that a program has as `Data`. Each call copies them once; the calls of arrays that have
// the same names say all else.
extension ImagebusClient {
    /// Begins a load of an image that the caller has; `request.url` is empty.
    public func load(
        _ request: ImageRequest, uploading data: Data, group: GroupID? = nil,
        wantsProgress: Bool = false, trace: TraceContext? = nil
    ) -> LoadTask {
        load(
            request, uploading: Array(data), group: group, wantsProgress: wantsProgress,
            trace: trace)
    }

    /// The same; `completion` runs once, where `executor` says, with how it ended.
    @discardableResult
    public func load(
        _ request: ImageRequest, uploading data: Data, on executor: CallbackExecutor,
        completion: @escaping @Sendable (Result<ImageResponse, ImageError>) -> Void
    ) -> LoadTask {
        load(request, uploading: Array(data), on: executor, completion: completion)
    }

    /// The same on a thread that may block; returns how it ended.
    public func loadAndWait(
        _ request: ImageRequest, uploading data: Data, group: GroupID? = nil,
        trace: TraceContext? = nil
    ) throws(ImageError) -> ImageResponse {
        try loadAndWait(request, uploading: Array(data), group: group, trace: trace)
    }

    /// Puts the bytes of an image under a key, as they are, and says which of the tiers have them
    /// now. For operators.
    public func put(
        _ data: Data, under key: String, cache: String? = nil, in tiers: CacheTypes = .all,
        tags: [String] = [], extendedData: ExtendedData? = nil
    ) async throws(ImageError) -> CacheTypes {
        try await put(
            Array(data), under: key, cache: cache, in: tiers, tags: tags,
            extendedData: extendedData)
    }
}

extension ImageRequest {
    /// A plain load, as that of the text of its absolute form. A relative URL without a base is
    /// refused with the request.
    public init(url: URL) {
        self.init(url: url.absoluteString)
    }
}

extension ImagebusClient {
    /// Begins a load of a URL.
    public func load(_ url: URL, wantsProgress: Bool = false) -> LoadTask {
        load(ImageRequest(url: url), wantsProgress: wantsProgress)
    }
}

extension ImageRequest {
    /// Seconds until the request ends with `deadlineExceeded`: `timeoutMilliseconds`, rounded up.
    /// What that may not be, such as infinity, is refused with the request.
    public var timeoutInterval: TimeInterval {
        get { TimeInterval(timeoutMilliseconds) / 1_000 }
        set {
            let tooMany = TimeInterval(RequestLimits.timeoutMillisecondsMax) + 1
            let milliseconds = (newValue * 1_000).rounded(.up)
            // Not a number is no time at all.
            timeoutMilliseconds = milliseconds > 0 ? Int(min(milliseconds, tooMany)) : 0
        }
    }
}

extension Date {
    /// Milliseconds since 1970.
    fileprivate init(milliseconds: some BinaryInteger) {
        self.init(timeIntervalSince1970: TimeInterval(milliseconds) / 1_000)
    }
}

extension HTTPExpiry {
    /// When its age was 0.
    public var bornDate: Date { Date(milliseconds: born) }
    /// It is fresh until then.
    public var freshUntilDate: Date { Date(milliseconds: freshUntil) }
    /// Until then it may be served while the origin is asked.
    public var staleUntilDate: Date { Date(milliseconds: staleUntil) }
    /// Until then it may be served where the origin fails.
    public var errorUntilDate: Date { Date(milliseconds: errorUntil) }
}

extension Validity {
    /// When the origin last changed the source; `nil` where it did not say, or not in the form of
    /// HTTP (RFC 9110 §5.6.7).
    public var lastModifiedDate: Date? {
        let now = Int64(clamping: Int(Date().timeIntervalSince1970))
        return lastModified.flatMap { HTTPDate.seconds($0, now: now) }
            .map { Date(milliseconds: $0 * 1_000) }
    }
}

extension EntryDescription {
    /// When its bytes were stored; `nil` where the tier does not say.
    public var storedDate: Date? {
        storedMilliseconds == 0 ? nil : Date(milliseconds: storedMilliseconds)
    }
    /// When they were last used, as far as the disk knows; `nil` where the tier does not say.
    public var accessedDate: Date? {
        accessedMilliseconds == 0 ? nil : Date(milliseconds: accessedMilliseconds)
    }
}
