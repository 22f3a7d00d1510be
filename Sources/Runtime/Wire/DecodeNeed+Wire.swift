import CMessages
import ImageModel

extension DecodeNeed: WireMessage {
    static var begin: (CPart<Imagebus__V1__Need>?) -> Void { imagebus__v1__need__init }
    static var blank: Self { .full }

    static func fields(_ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__Need>)
        throws(WireError)
    {
        if try map.unit(
            value == .header, { value = .header }, &wire.pointee.header,
            if: &wire.pointee.need_case, 1, "Need.header")
        {
            return
        }
        if try map.unit(
            value == .full, { value = .full }, &wire.pointee.full, if: &wire.pointee.need_case, 2,
            "Need.full")
        {
            return
        }
        if try map.part(
            {
                if case .cover(let box, let mode) = value {
                    Resize(box: box, mode: mode)
                } else {
                    nil
                }
            }, { value = .cover($0.box, $0.mode) }, &wire.pointee.cover,
            if: &wire.pointee.need_case, 3, "Need.cover")
        {
            return
        }
        throw .field("Need.need", .missing)
    }
}
