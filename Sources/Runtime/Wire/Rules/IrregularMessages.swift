import CMessages
public import Model

// The messages with the option `by hand` in imagebus.proto, whose values have another structure.

extension RequestProgress: WireMessage {
    typealias Form = Imagebus__V1__Event
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__event__init }
    static var blank: Self { Self(token: .blank, received: 0, expected: 0) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.identifier(&token, &wire.pointee.token, "Event.token")
        guard map.has(true, &wire.pointee.event_case, 2) else {
            throw .field("Event.event", .missing)
        }
        var bytes = ReceivedBytes(received: received, expected: expected)
        try map.part(&bytes, &wire.pointee.progress, "Event.progress")
        (received, expected) = (bytes.received, bytes.expected)
        try map.maybe(&info, &wire.pointee.info, "Event.info")
    }
}

extension Overlay: WireMessage {
    typealias Form = Imagebus__V1__Overlay
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__overlay__init }
    static var blank: Self { Self(url: "") }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        var (url, x, y, opacity) = (self.url, self.x, self.y, self.opacity)
        try map.text(&url, &wire.pointee.url, "Overlay.url", limit: RequestLimits.urlBytesMax)
        try map.number(&x, &wire.pointee.x, "Overlay.x")
        try map.number(&y, &wire.pointee.y, "Overlay.y")
        try map.finite(&opacity, &wire.pointee.opacity, "Overlay.opacity")
        var (gravity, size, repeats) = (self.gravity, self.size, self.repeats)
        var mode: BlendMode? = self.mode == .normal ? nil : self.mode
        try map.formed(&gravity, &wire.pointee.gravity, "Overlay.gravity", limit: 64)
        try map.formed(&size, &wire.pointee.size, "Overlay.size", limit: 64)
        map.flag(&repeats, &wire.pointee.repeats, "Overlay.repeats")
        try map.formed(&mode, &wire.pointee.mode, "Overlay.mode", limit: 32)
        self = Overlay(
            url: url, x: x, y: y, opacity: opacity, gravity: gravity, size: size, repeats: repeats,
            mode: mode ?? .normal)
    }
}

extension Decryptor: WireMessage {
    private enum Kind: UInt32 {
        case aes256GCM = 0
        case gzip = 1
        case base64 = 2
    }

    typealias Form = Imagebus__V1__Decryptor
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__decryptor__init }
    static var blank: Self { .gzip }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        var (kind, key) =
            switch self {
            case .aes256GCM(let key): (Kind.aes256GCM, key.hex)
            case .gzip: (.gzip, "")
            case .base64: (.base64, "")
            }
        try map.word(&kind, &wire.pointee.kind, "Decryptor.kind")
        try map.text(&key, &wire.pointee.key, "Decryptor.key", limit: 2 * Self.keyBytes)
        switch kind {
        case .gzip: self = .gzip
        case .base64: self = .base64
        case .aes256GCM:
            guard let bytes = Self.key(ofHex: key) else {
                throw .field("Decryptor.key", .unknownValue)
            }
            self = .aes256GCM(key: bytes)
        }
    }
}

extension LatencyHistogram: WireMessage {
    typealias Form = Imagebus__V1__StatusReport__Histogram
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__status_report__histogram__init }
    static var blank: Self { Self() }

    /// Only the nonempty buckets, packed, so that all histograms of a report fit into a frame.
    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        let limit = Self.lastBucket + 1
        var buckets = counts.keys.sorted().map { UInt32($0) }
        var numbers = buckets.map { counts[Int($0)] ?? 0 }
        var sum = self.sum
        try map.numbers(
            &buckets, &wire.pointee.n_buckets, &wire.pointee.buckets, map.container, limit: limit,
            least: 0)
        try map.numbers(
            &numbers, &wire.pointee.n_counts, &wire.pointee.counts, "Histogram.counts",
            limit: limit, least: 0)
        try map.number(&sum, &wire.pointee.microseconds, "Histogram.microseconds")
        self = LatencyHistogram(counts: try Self.counts(buckets, numbers), sum: sum)
    }

    private static func counts(_ buckets: [UInt32], _ numbers: [UInt64]) throws(WireError) -> [Int:
        UInt64]
    {
        guard numbers.count == buckets.count else {
            throw .field("Histogram.counts", .outOfRange)
        }
        var counts: [Int: UInt64] = [:]
        for (bucket, number) in zip(buckets, numbers) {
            let isNew = counts.updateValue(number, forKey: Int(bucket)) == nil
            guard bucket <= lastBucket, isNew else {
                throw .field("Histogram.buckets", .outOfRange)
            }
        }
        return counts
    }
}

/// Name and value together are limited like a text.
struct ErrorDetail: NamedText {
    var name: String
    var value: String

    static var nameMax: Int { MessageLimits.textBytesMax }
    var valueMax: Int { Self.nameMax - name.utf8.count }
}

extension ImageError: WireMessage {
    typealias Form = Imagebus__V1__Error
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__error__init }
    static var blank: Self { Self(.internalError, "") }

    /// An error can always be sent: long texts are truncated, NULs become spaces, and details
    /// beyond the limit are omitted, starting with the last names.
    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        var (message, details) = (
            Self.cut(self.message, to: MessageLimits.textBytesMax), travelingDetails
        )
        try map.details(
            &details, ErrorDetail.self, &wire.pointee.n_details, &wire.pointee.details,
            "Error.details", limit: MessageLimits.detailsMax)
        try map.word(&code, &wire.pointee.code, "Error.code")
        try map.text(
            &message, &wire.pointee.message, "Error.message", limit: MessageLimits.textBytesMax)
        var external = self.external.map { failure in
            var failure = failure
            failure.domain = Self.cut(failure.domain, to: ExternalFailure.domainBytesMax)
            return failure
        }
        try map.maybe(&external, &wire.pointee.foreign, "Error.foreign")
        (self.message, typedDetails.texts, self.external) = (message, details, external)
    }

    private var travelingDetails: [String: String] {
        let details = typedDetails.texts
        guard !details.isEmpty else { return [:] }
        let named = details.map { (Self.cut($0, to: ErrorDetail.nameMax), $1) }
        let unique = Dictionary(named) { first, _ in first }.sorted { $0.key < $1.key }
        let kept = unique.prefix(MessageLimits.detailsMax).map { name, value in
            (name, Self.cut(value, to: ErrorDetail(name: name, value: value).valueMax))
        }
        return Dictionary(uniqueKeysWithValues: kept)
    }

    /// Returns the text without NULs, truncated to `limit` bytes at a character boundary.
    private static func cut(_ text: String, to limit: Int) -> String {
        if text.utf8.count <= limit && !text.utf8.contains(0) { return text }
        var end =
            text.utf8.index(
                text.startIndex, offsetBy: limit, limitedBy: text.endIndex) ?? text.endIndex
        while end > text.startIndex, end.samePosition(in: text.unicodeScalars) == nil {
            end = text.utf8.index(before: end)
        }
        let scalars = text[..<end].unicodeScalars.map { $0.value == 0 ? " " : $0 }
        return String(String.UnicodeScalarView(scalars))
    }
}

/// The standalone message `Metadata`, for storage outside of the stack.
extension StoredMetadata {
    /// Packs the message. Throws `field` for a value beyond the limits of messages.
    public func packed() throws(WireError) -> [UInt8] {
        var encoder = MessageEncoder()
        try encoder.build(self, limit: .max)
        return encoder.packed()
    }

    /// Unpacks a message. Throws for anything that is not a valid message, since the bytes may come
    /// from elsewhere.
    public init(packed bytes: RawSpan) throws(WireError) {
        var decoder = MessageDecoder()
        self = try decoder.decode(
            bytes, limit: MessageLimits.backFrameBytesMax, imagebus__v1__metadata__unpack)
    }
}
