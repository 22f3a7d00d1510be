import CMessages
import Messages

extension ImageLimits: WireMessage {
    typealias Form = Imagebus__V1__Limits
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__limits__init }
    static var blank: Self {
        Self(sideMax: 0, pixelsMax: 0, pixelBytesMax: 0, pagesMax: 0, metadataBytesMax: 0)
    }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.number(&sideMax, &wire.pointee.side_max, "Limits.side_max")
        try map.number(&pixelsMax, &wire.pointee.pixels_max, "Limits.pixels_max")
        try map.number(&pixelBytesMax, &wire.pointee.pixel_bytes_max, "Limits.pixel_bytes_max")
        try map.number(&pagesMax, &wire.pointee.pages_max, "Limits.pages_max")
        try map.number(
            &metadataBytesMax, &wire.pointee.metadata_bytes_max, "Limits.metadata_bytes_max")
    }
}
