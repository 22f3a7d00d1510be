/// The details of an error. On the wire and in JSON they are texts by name (PROTOCOL §9); names
/// that this version doesn't know are kept.
///
/// A text that isn't a valid value of its detail reads as `nil`. Setting `nil` removes a detail.
public struct ErrorDetails: Hashable, Sendable {
    /// The texts by name.
    public var texts: [String: String]

    /// Creates details from texts by name; none by default.
    public init(_ texts: [String: String] = [:]) { self.texts = texts }
}

extension ErrorDetails {
    /// The names of the details.
    package enum Key: String, Hashable, Sendable, CaseIterable {
        case age
        case attempt
        case born
        case cacheControl
        case coders
        case contentType
        case curl
        case errno
        case expiresIn
        case fallback
        case format
        case frame
        case header
        case httpStatus
        case left
        case limit
        case operation
        case option
        case overlay
        case part
        case permitted
        case pool
        case proxy
        case proxyStatus
        case reason
        case removed
        case retryAfter
        case setting
        case step
        case value
    }

    /// The text of a detail, whether or not it is a valid value.
    package subscript(key: Key) -> String? {
        get { texts[key.rawValue] }
        set { texts[key.rawValue] = newValue }
    }

    private subscript<Number: LosslessStringConvertible>(number key: Key) -> Number? {
        get { self[key].flatMap { Number($0) } }
        set { self[key] = newValue?.description }
    }
}

// Downloads and requests.
extension ErrorDetails {
    /// The status code of the origin's response.
    public var httpStatus: Int? {
        get { self[number: .httpStatus] }
        set { self[number: .httpStatus] = newValue }
    }

    /// The number of seconds after which to try again; finite and not negative.
    public var retryAfterSeconds: Double? {
        get {
            let seconds: Double? = self[number: .retryAfter]
            return seconds.flatMap { $0.isFinite && $0 >= 0 ? $0 : nil }
        }
        set { self[number: .retryAfter] = newValue }
    }

    /// The same if it is a whole number, as in the header `Retry-After` of an origin.
    public var retryAfterWholeSeconds: UInt32? {
        get { self[number: .retryAfter] }
        set { self[number: .retryAfter] = newValue }
    }

    /// The number of attempts if there was more than one.
    public var attempt: Int? {
        get { self[number: .attempt] }
        set { self[number: .attempt] = newValue }
    }

    /// The content type of the response, truncated.
    public var contentType: String? {
        get { self[.contentType] }
        set { self[.contentType] = newValue }
    }

    /// libcurl's number of the error.
    public var curlCode: Int32? {
        get { self[number: .curl] }
        set { self[number: .curl] = newValue }
    }

    /// The number of the system error, such as 111 for a refused connection.
    public var errno: Int32? {
        get { self[number: .errno] }
        set { self[number: .errno] = newValue }
    }

    /// The host and port of the proxy that responded instead of the origin.
    public var proxy: String? {
        get { self[.proxy] }
        set { self[.proxy] = newValue }
    }

    /// The status code of that proxy's response.
    public var proxyStatus: Int? {
        get { self[number: .proxyStatus] }
        set { self[number: .proxyStatus] = newValue }
    }

    /// The name of a request header that is not accepted, truncated.
    public var header: String? {
        get { self[.header] }
        set { self[.header] = newValue }
    }

    /// The option of SDWebImage that is not supported or has an invalid value.
    public var option: String? {
        get { self[.option] }
        set { self[.option] = newValue }
    }
}

// Limits.
extension ErrorDetails {
    /// The limit that was exceeded: its name, or its value if it has none.
    public var limit: String? {
        get { self[.limit] }
        set { self[.limit] = newValue }
    }

    /// The actual value.
    public var value: Int? {
        get { self[number: .value] }
        set { self[number: .value] = newValue }
    }

    /// The maximum value that is permitted.
    public var permitted: Int? {
        get { self[number: .permitted] }
        set { self[number: .permitted] = newValue }
    }

    /// The name of the setting that is invalid or, for a limit, permits more.
    public var setting: String? {
        get { self[.setting] }
        set { self[.setting] = newValue }
    }
}

// Images, steps and workers.
extension ErrorDetails {
    /// A part of a file.
    public enum Part: String, Hashable, Sendable, CaseIterable {
        /// The whole body, which is empty.
        case body
        /// The pixels after a valid header.
        case pixels
    }

    /// The part of the file that is damaged.
    public var part: Part? {
        get { self[.part].flatMap { Part(rawValue: $0) } }
        set { self[.part] = newValue?.rawValue }
    }

    /// The name of the image's format.
    public var format: String? {
        get { self[.format] }
        set { self[.format] = newValue }
    }

    /// The number of the animation's frame, from 0.
    public var frame: Int? {
        get { self[number: .frame] }
        set { self[number: .frame] = newValue }
    }

    /// The name of the step.
    public var step: String? {
        get { self[.step] }
        set { self[.step] = newValue }
    }

    /// The name of the error of the overlay.
    public var overlay: String? {
        get { self[.overlay] }
        set { self[.overlay] = newValue }
    }

    /// The name of the error of the fallback, or `miss`.
    public var fallback: String? {
        get { self[.fallback] }
        set { self[.fallback] = newValue }
    }

    /// The library's text or, for a source in the failure cache, the name of its first error.
    public var reason: String? {
        get { self[.reason] }
        set { self[.reason] = newValue }
    }

    /// The library's operation that failed.
    public var operation: String? {
        get { self[.operation] }
        set { self[.operation] = newValue }
    }

    /// The names of the requested decoder pools, separated by commas.
    public var coders: String? {
        get { self[.coders] }
        set { self[.coders] = newValue }
    }

    /// The pool that has no workers.
    public var pool: String? {
        get { self[.pool] }
        set { self[.pool] = newValue }
    }
}

// Caches.
extension ErrorDetails {
    /// The number of seconds since the first failure of a source in the failure cache.
    public var ageSeconds: Int? {
        get { self[number: .age] }
        set { self[number: .age] = newValue }
    }

    /// The `Cache-Control` directives of an unchanged resource.
    public var cacheControl: String? {
        get { self[.cacheControl] }
        set { self[.cacheControl] = newValue }
    }

    /// The time at which the age of the response was 0, in milliseconds since 1970.
    public var bornMilliseconds: Int64? {
        get { self[number: .born] }
        set { self[number: .born] = newValue }
    }

    /// Seconds from `Date` to `Expires` of the response.
    public var expiresInSeconds: Int64? {
        get { self[number: .expiresIn] }
        set { self[number: .expiresIn] = newValue }
    }

    /// The number of entries removed before a removal failed.
    public var removed: UInt64? {
        get { self[number: .removed] }
        set { self[number: .removed] = newValue }
    }

    /// The approximate number of entries that were not examined.
    public var left: UInt64? {
        get { self[number: .left] }
        set { self[number: .left] = newValue }
    }
}
