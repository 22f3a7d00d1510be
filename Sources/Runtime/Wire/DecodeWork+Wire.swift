import CMessages
import ImageModel
import Messages

extension DecodeWork {
    init(_ wire: Imagebus__V1__Decode, _ read: FieldReader) throws(WireError) {
        self.init(
            source: try BlockReference(try read.required(wire.source, "Decode.source"), read),
            need: try DecodeNeed(try read.required(wire.need, "Decode.need"), read),
            limits: try ImageLimits(try read.required(wire.limits, "Decode.limits"), read))
    }

    func wire(_ write: FieldWriter) throws(WireError) -> UnsafeMutablePointer<Imagebus__V1__Decode>
    {
        let wire = try write.make(imagebus__v1__decode__init)
        wire.pointee.source = try source.wire(write)
        wire.pointee.need = try need.wire(write)
        wire.pointee.limits = try limits.wire(write)
        return wire
    }
}
