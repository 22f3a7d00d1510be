import CMessages
import ImageModel
import Messages

extension PaintWork: WireMessage {
    static var begin: (CPart<Imagebus__V1__Paint>?) -> Void { imagebus__v1__paint__init }
    static var blank: Self {
        Self(colour: Colour(argb: 0), size: .blank, output: .blank, limits: .blank)
    }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__Paint>
    ) throws(WireError) {
        var argb = value.colour.argb
        try map.number(&argb, &wire.pointee.colour, "Paint.colour")
        value.colour = Colour(argb: argb)
        try map.part(&value.size, &wire.pointee.size, "Paint.size")
        try map.part(
            &value.output, unless: value.output.isDefault, &wire.pointee.output, "Paint.output")
        try map.part(&value.limits, &wire.pointee.limits, "Paint.limits")
        guard value.size.isPositive else { throw .field("Paint.size", .outOfRange) }
    }
}
