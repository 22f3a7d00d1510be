import CMessages
import Messages

/// A value as a message of `Proto/imagebus.proto`.
protocol WireMessage {
    /// What protobuf-c makes of the message.
    associatedtype Form

    /// Makes an empty message.
    static var begin: (CPart<Form>?) -> Void { get }

    /// A value before its fields are read: what may be absent is.
    static var blank: Self { get }

    /// Says each field of the message once.
    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError)
}

/// A text that has a form of its own.
protocol FormedText {
    /// Bytes of it at most, as it is written.
    static var bytesMax: Int { get }
    /// Bytes of it at most, as it is read.
    static var readBytesMax: Int { get }

    /// The text.
    var text: String { get }

    /// What was read; `nil` where it counts as none.
    init?(reading text: String, _ field: String) throws(WireError)
}

extension FormedText {
    static var readBytesMax: Int { bytesMax }
}
