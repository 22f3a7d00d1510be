import CMessages
import ImageModel
import Messages

extension Fallback: WireMessage {
    static var begin: (CPart<Imagebus__V1__Fallback>?) -> Void { imagebus__v1__fallback__init }
    static var blank: Self { .none }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__Fallback>
    ) throws(WireError) {
        if try map.unit(
            value == .none, { value = .none }, &wire.pointee.none, if: &wire.pointee.fallback_case,
            1, "Fallback.none")
        {
            return
        }
        if try map.text(
            { if case .url(let url) = value { url } else { nil } }, { value = .url($0) },
            &wire.pointee.url,
            if: &wire.pointee.fallback_case, 2, "Fallback.url", limit: RequestLimits.urlBytesMax)
        {
            return
        }
        if try map.number(
            { if case .colour(let colour) = value { colour.argb } else { nil } },
            { value = .colour(Colour(argb: $0)) }, &wire.pointee.colour,
            if: &wire.pointee.fallback_case, 3, "Fallback.colour")
        {
            return
        }
        throw .field("Fallback.fallback", .missing)
    }
}
