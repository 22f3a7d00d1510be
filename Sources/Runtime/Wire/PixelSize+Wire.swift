import CMessages
import ImageModel

// Sizes of requests travel as they are, negative ones too: admission refuses them with a reason.
extension PixelSize: WireMessage {
    typealias Form = Imagebus__V1__Size
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__size__init }
    static var blank: Self { Self(width: 0, height: 0) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.number(&width, &wire.pointee.width, map.container)
        try map.number(&height, &wire.pointee.height, map.container)
    }
}

extension PixelRect: WireMessage {
    typealias Form = Imagebus__V1__Rect
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__rect__init }
    static var blank: Self { Self(x: 0, y: 0, size: .blank) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.number(&x, &wire.pointee.x, "Rect.x")
        try map.number(&y, &wire.pointee.y, "Rect.y")
        try map.part(&size, &wire.pointee.size, "Rect.size")
    }
}
