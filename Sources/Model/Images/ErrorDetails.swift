/// The details of an error. On the wire and in JSON they are texts by name (PROTOCOL §9); names
/// that this version doesn't know are kept.
///
/// A text that isn't a valid value of its detail reads as `nil`. Setting `nil` removes a detail.
@dynamicMemberLookup
public struct ErrorDetails: Hashable, Sendable {
    /// The texts by name.
    public var texts: [String: String]

    /// Creates details from texts by name; none by default.
    public init(_ texts: [String: String] = [:]) { self.texts = texts }

    /// The value of one of the `Fields`.
    public subscript<Value: LosslessStringConvertible>(
        dynamicMember field: KeyPath<Fields, Field<Value>>
    ) -> Value? {
        get {
            guard let value = self[text: field].flatMap({ Value($0) }) else { return nil }
            return Fields.all[keyPath: field].isValid?(value) == false ? nil : value
        }
        set { self[text: field] = newValue?.description }
    }

    /// The text of one of the `Fields`, whether or not it is a valid value.
    package subscript<Value>(text field: KeyPath<Fields, Field<Value>>) -> String? {
        get { texts[Fields.all[keyPath: field].name] }
        set { texts[Fields.all[keyPath: field].name] = newValue }
    }

    /// A detail with values of one type.
    public struct Field<Value: LosslessStringConvertible>: Sendable {
        /// The name on the wire and in JSON.
        public let name: String
        /// Whether a value is meaningful; `nil` if all are.
        let isValid: (@Sendable (Value) -> Bool)?

        fileprivate init(_ name: String, isValid: (@Sendable (Value) -> Bool)? = nil) {
            (self.name, self.isValid) = (name, isValid)
        }
    }

    /// A part of a file.
    public enum Part: String, Hashable, Sendable, CaseIterable, LosslessStringConvertible {
        /// The whole body, which is empty.
        case body
        /// The pixels after a valid header.
        case pixels

        /// Creates a part from its name; `nil` if it is unknown.
        public init?(_ description: String) { self.init(rawValue: description) }

        /// The name.
        public var description: String { rawValue }
    }
}

extension ErrorDetails {
    /// The known details, which are read and set as properties of the details.
    public struct Fields: Sendable {
        package static let all = Fields()

        // Downloads and requests.

        /// The status code of the origin's response.
        public let httpStatus = Field<Int>("httpStatus")
        /// The number of seconds after which to try again; finite and not negative.
        public let retryAfterSeconds = Field<Double>("retryAfter") { $0.isFinite && $0 >= 0 }
        /// The same if it is a whole number, as in the header `Retry-After` of an origin.
        public let retryAfterWholeSeconds = Field<UInt32>("retryAfter")
        /// The number of attempts if there was more than one.
        public let attempt = Field<Int>("attempt")
        /// The content type of the response, truncated.
        public let contentType = Field<String>("contentType")
        /// libcurl's number of the error.
        public let curlCode = Field<Int32>("curl")
        /// The number of the system error, such as 111 for a refused connection.
        public let errno = Field<Int32>("errno")
        /// The host and port of the proxy that responded instead of the origin.
        public let proxy = Field<String>("proxy")
        /// The status code of that proxy's response.
        public let proxyStatus = Field<Int>("proxyStatus")
        /// The name of a request header that is not accepted, truncated.
        public let header = Field<String>("header")
        /// The option of SDWebImage that is not supported or has an invalid value.
        public let option = Field<String>("option")

        // Limits.

        /// The limit that was exceeded: its name, or its value if it has none.
        public let limit = Field<String>("limit")
        /// The actual value.
        public let value = Field<Int>("value")
        /// The maximum value that is permitted.
        public let permitted = Field<Int>("permitted")
        /// The name of the setting that is invalid or, for a limit, permits more.
        public let setting = Field<String>("setting")

        // Images, steps and workers.

        /// The part of the file that is damaged.
        public let part = Field<Part>("part")
        /// The name of the image's format.
        public let format = Field<String>("format")
        /// The number of the animation's frame, from 0.
        public let frame = Field<Int>("frame")
        /// The name of the step.
        public let step = Field<String>("step")
        /// The name of the error of the overlay.
        public let overlay = Field<String>("overlay")
        /// The name of the error of the fallback, or `miss`.
        public let fallback = Field<String>("fallback")
        /// The library's text or, for a source in the failure cache, the name of its first error.
        public let reason = Field<String>("reason")
        /// The library's operation that failed.
        public let operation = Field<String>("operation")
        /// The names of the requested decoder pools, separated by commas.
        public let coders = Field<String>("coders")
        /// The pool that has no workers.
        public let pool = Field<String>("pool")

        // Caches.

        /// The number of seconds since the first failure of a source in the failure cache.
        public let ageSeconds = Field<Int>("age")
        /// The `Cache-Control` directives of an unchanged resource.
        public let cacheControl = Field<String>("cacheControl")
        /// The time at which the age of the response was 0, in milliseconds since 1970.
        public let bornMilliseconds = Field<Int64>("born")
        /// Seconds from `Date` to `Expires` of the response.
        public let expiresInSeconds = Field<Int64>("expiresIn")
        /// The number of entries removed before a removal failed.
        public let removed = Field<UInt64>("removed")
        /// The approximate number of entries that were not examined.
        public let left = Field<UInt64>("left")
    }
}
