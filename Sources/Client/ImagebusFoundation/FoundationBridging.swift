public import FoundationEssentials
public import Imagebus
public import Model

extension Data {
    /// Creates a copy of the bytes.
    public init(_ bytes: ImageBytes) {
        self = bytes.withUnsafeBytes { Data($0) }
    }

    /// Creates data from image bytes without a copy if they are a mapping of shared memory (from 1
    /// MiB on), otherwise with a copy. This value and its copies hold `bytes`, so the stack cannot
    /// reuse that memory until the last of them is released.
    ///
    /// Treat the data as read-only, because the memory cannot be written. Appending, or mutating
    /// one of several copies, copies the bytes first. But mutating the only copy in place (`data[0]
    /// = 1`) crashes the process. Use `Data(bytes)` for data to be mutated.
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
    /// A copy of the encoded bytes; `nil` for a miss and if only image properties were requested.
    public var data: Data? { bytes.map { Data($0) } }
}

extension ImageRequest {
    /// Creates a request with default options from the absolute string of a URL. A relative URL
    /// without a base is refused when the request is loaded.
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
    /// The timeout in seconds, after which the request ends with `deadlineExceeded`:
    /// `timeoutMilliseconds`, rounded up. A value out of range, such as infinity, is refused when
    /// the request is loaded.
    public var timeoutInterval: TimeInterval {
        get { TimeInterval(timeoutMilliseconds) / 1_000 }
        set {
            let tooMany = TimeInterval(RequestLimits.timeoutMillisecondsMax) + 1
            let milliseconds = (newValue * 1_000).rounded(.up)
            // NaN counts as zero.
            timeoutMilliseconds = milliseconds > 0 ? Int(min(milliseconds, tooMany)) : 0
        }
    }
}

extension Date {
    /// Creates a date from milliseconds since 1970.
    fileprivate init(milliseconds: some BinaryInteger) {
        self.init(timeIntervalSince1970: TimeInterval(milliseconds) / 1_000)
    }
}

extension HTTPExpiry {
    /// When the response's age was 0.
    public var bornDate: Date { Date(milliseconds: born) }
    /// Until when the response is fresh.
    public var freshUntilDate: Date { Date(milliseconds: freshUntil) }
    /// Until when it may be served while it is being revalidated with the origin.
    public var staleUntilDate: Date { Date(milliseconds: staleUntil) }
    /// Until when it may be served if the origin fails.
    public var errorUntilDate: Date { Date(milliseconds: errorUntil) }
}

extension Validity {
    /// When the origin last changed the source; `nil` if it did not specify that, or not as an HTTP
    /// date (RFC 9110 §5.6.7).
    public var lastModifiedDate: Date? {
        let now = Int64(clamping: Int(Date().timeIntervalSince1970))
        return lastModified.flatMap { HTTPDate.seconds($0, now: now) }
            .map { Date(milliseconds: $0 * 1_000) }
    }
}

extension EntryDescription {
    /// When the entry's bytes were stored; `nil` if the tier doesn't record it.
    public var storedDate: Date? {
        storedMilliseconds == 0 ? nil : Date(milliseconds: storedMilliseconds)
    }
    /// When the entry was last used, as far as the disk has recorded it; `nil` if the tier doesn't
    /// record it.
    public var accessedDate: Date? {
        accessedMilliseconds == 0 ? nil : Date(milliseconds: accessedMilliseconds)
    }
}
