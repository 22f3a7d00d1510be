import CMessages
import Messages

extension GoodbyeReason {
    init(_ wire: Imagebus__V1__Goodbye, _ read: FieldReader) throws(WireError) {
        self = try read.known(wire.reason.rawValue, "Goodbye.reason")
    }

    func wire(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__Goodbye>
    {
        let wire = try write.make(imagebus__v1__goodbye__init)
        wire.pointee.reason = .init(rawValue: .init(rawValue))
        return wire
    }
}
