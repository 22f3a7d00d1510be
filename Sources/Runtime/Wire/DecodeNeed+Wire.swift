import CMessages
import ImageModel

extension DecodeNeed: WireMessage {
    typealias Form = Imagebus__V1__Need
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__need__init }
    static var blank: Self { .full }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        if try map.unit(
            self == .header, { self = .header }, &wire.pointee.header, if: &wire.pointee.need_case,
            1, "Need.header")
        {
            return
        }
        if try map.unit(
            self == .full, { self = .full }, &wire.pointee.full, if: &wire.pointee.need_case, 2,
            "Need.full")
        {
            return
        }
        if try map.part(
            {
                if case .cover(let box, let mode) = self {
                    Resize(box: box, mode: mode, enlarges: mode.enlarges)
                } else {
                    nil
                }
            }, { self = .cover($0.box, $0.mode) }, &wire.pointee.cover,
            if: &wire.pointee.need_case, 3, "Need.cover")
        {
            return
        }
        if try map.number(
            { if case .area(let pixels) = self { UInt64(clamping: pixels) } else { nil } },
            { self = .area(Int(clamping: $0)) }, &wire.pointee.area, if: &wire.pointee.need_case, 4,
            "Need.area")
        {
            return
        }
        throw .field("Need.need", .missing)
    }
}
