import CMessages
import Messages

extension ImageLimits: WireMessage {
    static var begin: (CPart<Imagebus__V1__Limits>?) -> Void { imagebus__v1__limits__init }
    static var blank: Self { Self(sideMax: 0, pixelsMax: 0, pixelBytesMax: 0, pagesMax: 0) }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__Limits>
    ) throws(WireError) {
        try map.number(&value.sideMax, &wire.pointee.side_max, "Limits.side_max")
        try map.number(&value.pixelsMax, &wire.pointee.pixels_max, "Limits.pixels_max")
        try map.number(
            &value.pixelBytesMax, &wire.pointee.pixel_bytes_max, "Limits.pixel_bytes_max")
        try map.number(&value.pagesMax, &wire.pointee.pages_max, "Limits.pages_max")
    }
}
