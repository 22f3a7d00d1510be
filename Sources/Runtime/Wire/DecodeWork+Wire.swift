import CMessages
import ImageModel
import Messages

extension DecodeWork: WireMessage {
    static var begin: (CPart<Imagebus__V1__Decode>?) -> Void { imagebus__v1__decode__init }
    static var blank: Self { Self(source: .blank, need: .blank, limits: .blank) }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__Decode>
    ) throws(WireError) {
        try map.part(&value.source, &wire.pointee.source, "Decode.source")
        try map.part(&value.need, &wire.pointee.need, "Decode.need")
        try map.part(&value.limits, &wire.pointee.limits, "Decode.limits")
    }
}
