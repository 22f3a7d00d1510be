import CMessages
import ImageModel
import Messages

extension PaintWork: WireMessage {
    typealias Form = Imagebus__V1__Paint
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__paint__init }
    static var blank: Self {
        Self(colour: Colour(argb: 0), size: .blank, output: .blank, limits: .blank)
    }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        var argb = colour.argb
        try map.number(&argb, &wire.pointee.colour, "Paint.colour")
        colour = Colour(argb: argb)
        try map.part(&size, &wire.pointee.size, "Paint.size")
        try map.part(&output, unless: output.isDefault, &wire.pointee.output, "Paint.output")
        try map.part(&limits, &wire.pointee.limits, "Paint.limits")
        guard size.isPositive else { throw .field("Paint.size", .outOfRange) }
    }
}
