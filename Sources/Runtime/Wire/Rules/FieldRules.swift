import CMessages
import Model

// The rules that the option `by` of imagebus.proto names, for single values.

/// A type that wraps a 128-bit identifier.
protocol WrappedIdentifier {
    init(_ value: Identifier128)
    var value: Identifier128 { get }
}

extension Token: WrappedIdentifier {}
extension GroupID: WrappedIdentifier {}
extension Incarnation: WrappedIdentifier {}
extension Epoch: WrappedIdentifier {}

extension WrappedIdentifier {
    /// The value before reading.
    static var blank: Self { Self(Identifier128(high: 0, low: 0)) }
}

/// A type that wraps a positive number.
protocol WrappedNumber {
    init(_ value: UInt64)
    var value: UInt64 { get }
}

extension WrappedNumber {
    /// The value before reading.
    static var blank: Self { Self(0) }
}

extension JobID: WrappedNumber {}
extension BlockID: WrappedNumber {}

extension FieldMap {
    func identifier<ID: WrappedIdentifier>(
        _ value: inout ID, _ member: inout ProtobufCBinaryData, _ field: String
    ) throws(WireError) {
        var bits = value.value
        try identifier(&bits, &member, field)
        value = ID(bits)
    }

    /// An optional identifier of 16 bytes.
    func identifier<ID: WrappedIdentifier>(
        maybe value: inout ID?, _ member: inout ProtobufCBinaryData, _ field: String
    ) throws(WireError) {
        guard has(value != nil, &member) else { return }
        var present = value ?? .blank
        try identifier(&present, &member, field)
        value = present
    }

    func number<ID: WrappedNumber>(
        _ value: inout ID, within range: ClosedRange<UInt64>, _ member: inout UInt64,
        _ field: String
    ) throws(WireError) {
        var number = value.value
        try self.number(&number, within: range, &member, field)
        value = ID(number)
    }

    /// A set of arbitrary bits.
    func bits<Bits: OptionSet>(_ value: inout Bits, _ member: inout UInt32, _ field: String)
        throws(WireError) where Bits.RawValue == UInt32
    {
        var bits = value.rawValue
        try number(&bits, &member, field)
        value = Bits(rawValue: bits)
    }
}

extension FieldMap {
    /// An optional block ID; 0 if absent.
    func block(_ value: inout BlockID?, _ member: inout UInt64, _ field: String) throws(WireError) {
        var number = value?.value ?? 0
        try self.number(&number, &member, field)
        value = number == 0 ? nil : BlockID(number)
    }

    /// An optional time of the monotonic clock; 0 if absent.
    func instant(_ value: inout Instant?, _ member: inout UInt64, _ field: String)
        throws(WireError)
    {
        var nanoseconds = value?.nanoseconds ?? 0
        try number(&nanoseconds, &member, field)
        value = nanoseconds == 0 ? nil : Instant(nanoseconds: nanoseconds)
    }

    /// EXIF's number of an orientation.
    func orientation(_ value: inout Orientation, _ member: inout UInt32, _ field: String)
        throws(WireError)
    {
        var number = value.exif
        try self.number(&number, within: 1...8, &member, field)
        value = Orientation(exif: number)
    }

    /// A number of pixels, which has another range in the message.
    func clamped(_ value: inout Int, _ member: inout UInt64, _ field: String) throws(WireError) {
        var number = UInt64(clamping: value)
        try self.number(&number, &member, field)
        value = Int(clamping: number)
    }

    /// A color as 0xAARRGGBB.
    func color(_ value: inout Color, _ member: inout UInt32, _ field: String) throws(WireError) {
        var argb = value.argb
        try number(&argb, &member, field)
        value = Color(argb: argb)
    }
}

extension FieldMap {
    /// How a user is authenticated.
    func method(
        _ value: inout TransferCredential.Method, _ member: inout Imagebus__V1__CredentialMethod,
        _ field: String
    ) throws(WireError) {
        var word: CredentialMethod = value == .basic ? .basic : .digest
        try self.word(&word, &member, field)
        value = word == .basic ? .basic : .digest
    }
}

private enum CredentialMethod: UInt32 {
    case basic = 0
    case digest = 1
}

// Texts and bytes.
extension FieldMap {
    /// An optional text of at most `limit` bytes; encoded as an empty text if absent.
    func name(_ value: inout String?, _ member: inout CText?, _ field: String, limit: Int)
        throws(WireError)
    {
        if value == nil, !stores { return }
        var text = value ?? ""
        try self.text(&text, &member, field, limit: limit)
        value = text.isEmpty ? nil : text
    }

    /// A request normalizes its URLs; this happens once, when they are read.
    func requestURL(
        _ value: inout ImageRequest, _ member: inout CText?, _ field: String, limit: Int
    ) throws(WireError) {
        var url = value.url
        try text(&url, &member, field, limit: limit)
        if url != value.url { value.url = url }
    }

    /// A pool; omitted if it is the default pool of the kind.
    func pool(
        _ value: inout PoolName, of kind: WorkerKind, _ member: inout CText?, _ field: String,
        limit: Int
    ) throws(WireError) {
        let ofKind = PoolName.defaults[Int(kind.rawValue)]
        var further = value == ofKind ? nil : value
        try formed(&further, &member, field, limit: limit)
        value = further ?? ofKind
    }

    /// A pool, also if it is the default pool of its kind.
    func requiredPool(
        _ value: inout PoolName, _ member: inout CText?, _ field: String, limit: Int
    ) throws(WireError) {
        var name: PoolName? = value
        try formed(&name, &member, field, limit: limit)
        guard let name else { throw .field(field, .missing) }
        value = name
    }

    /// An optional value of a fixed number of bytes; empty if absent.
    func sized<Value: SizedBytes>(
        _ value: inout Value?, _ member: inout ProtobufCBinaryData, _ field: String
    ) throws(WireError) {
        guard has(value != nil, &member) else { return }
        var bytes = value?.bytes ?? []
        try data(&bytes, &member, field, limit: Value.byteCount)
        guard let sized = Value(bytes) else { throw .field(field, .outOfRange) }
        value = sized
    }
}

/// A value of a fixed number of bytes.
protocol SizedBytes {
    static var byteCount: Int { get }
    var bytes: [UInt8] { get }

    /// Returns `nil` for another number of bytes.
    init?(_ bytes: [UInt8])
}

extension ContentDigest: SizedBytes {}
extension ListenerSecret: SizedBytes {}

/// A text with its own syntax.
protocol FormedText {
    /// Whether an invalid text counts as absent.
    static var ignoresInvalid: Bool { get }

    var text: String { get }

    /// Parses a text; returns `nil` if it is invalid.
    static func parsed(_ text: String) -> Self?
}

extension FormedText {
    static var ignoresInvalid: Bool { false }
}

// An invalid trace starts no trace (W3C Trace Context §3.2.2.4).
extension TraceContext: FormedText {
    static var ignoresInvalid: Bool { true }
    static func parsed(_ text: String) -> Self? { Self(text: text) }
}

extension RequestID: FormedText {
    static var ignoresInvalid: Bool { true }
    static func parsed(_ text: String) -> Self? { Self(text: text) }
}

extension PoolName: FormedText {
    static func parsed(_ text: String) -> Self? { Self(text) }

    fileprivate static let defaults = WorkerKind.allCases.map { PoolName($0) }
}

extension Gravity: FormedText {
    var text: String { description }
    static func parsed(_ text: String) -> Self? { Self(text) }
}

extension RelativeSize: FormedText {
    var text: String { description }
    static func parsed(_ text: String) -> Self? { Self(text) }
}

extension BlendMode: FormedText {
    var text: String { name }
    static func parsed(_ text: String) -> Self? { Self(name: text) }
}

// Values before reading.

extension CacheTypes {
    static var blank: Self { [] }
}

extension CacheControl {
    static var blank: Self { Self(nil) }
}

extension Color {
    static var blank: Self { Self(argb: 0) }
}

extension Orientation {
    static var blank: Self { .upright }
}

extension PoolName {
    static let blank = PoolName(.coordinator)
}

extension TransferCredential.Method {
    static var blank: Self { .basic }
}
