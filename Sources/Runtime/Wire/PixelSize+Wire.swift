import CMessages
import ImageModel

// Sizes of requests travel as they are, negative ones too: admission refuses them with a reason.
extension PixelSize: WireMessage {
    static var begin: (CPart<Imagebus__V1__Size>?) -> Void { imagebus__v1__size__init }
    static var blank: Self { Self(width: 0, height: 0) }

    static func fields(_ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__Size>)
        throws(WireError)
    {
        try map.number(&value.width, &wire.pointee.width, map.container)
        try map.number(&value.height, &wire.pointee.height, map.container)
    }
}

extension PixelRect: WireMessage {
    static var begin: (CPart<Imagebus__V1__Rect>?) -> Void { imagebus__v1__rect__init }
    static var blank: Self { Self(x: 0, y: 0, size: .blank) }

    static func fields(_ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__Rect>)
        throws(WireError)
    {
        try map.number(&value.x, &wire.pointee.x, "Rect.x")
        try map.number(&value.y, &wire.pointee.y, "Rect.y")
        try map.part(&value.size, &wire.pointee.size, "Rect.size")
    }
}
