import CMessages
import ImageModel
import Messages

extension Fallback: WireMessage {
    typealias Form = Imagebus__V1__Fallback
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__fallback__init }
    static var blank: Self { .none }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        if try map.unit(
            self == .none, { self = .none }, &wire.pointee.none, if: &wire.pointee.fallback_case, 1,
            "Fallback.none")
        {
            return
        }
        if try map.text(
            { if case .url(let url) = self { url } else { nil } }, { self = .url($0) },
            &wire.pointee.url,
            if: &wire.pointee.fallback_case, 2, "Fallback.url", limit: RequestLimits.urlBytesMax)
        {
            return
        }
        if try map.number(
            { if case .colour(let colour) = self { colour.argb } else { nil } },
            { self = .colour(Colour(argb: $0)) }, &wire.pointee.colour,
            if: &wire.pointee.fallback_case, 3, "Fallback.colour")
        {
            return
        }
        throw .field("Fallback.fallback", .missing)
    }
}
