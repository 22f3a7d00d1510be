import CMessages
import ImageModel

extension HDRColours: WireMessage {
    typealias Form = Imagebus__V1__HDRColours
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__hdrcolours__init }
    static var blank: Self { Self(primaries: .bt2020, transfer: .pq) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.word(&primaries, &wire.pointee.primaries, "HDRColours.primaries")
        try map.word(&transfer, &wire.pointee.transfer, "HDRColours.transfer")
    }
}
