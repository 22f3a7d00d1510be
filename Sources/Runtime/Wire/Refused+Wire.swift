import CMessages
import ImageModel
import Messages

extension ImageError {
    /// The error of a `Refused`.
    init(refusal wire: Imagebus__V1__Refused, _ read: FieldReader) throws(WireError) {
        try self.init(try read.required(wire.error, "Refused.error"), read)
    }

    /// A `Refused`, about a request or about none.
    func refusal(of token: Token?, _ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__Refused>
    {
        let wire = try write.make(imagebus__v1__refused__init)
        wire.pointee.error = try self.wire(write)
        if let token { wire.pointee.token = try write.bytes(token.value) }
        return wire
    }
}

extension Token {
    /// The request of a `Refused`, if it is about one.
    static func refused(_ wire: Imagebus__V1__Refused, _ read: FieldReader) throws(WireError)
        -> Token?
    {
        guard wire.token.len > 0 else { return nil }
        return Token(try read.identifier(wire.token, "Refused.token"))
    }
}
