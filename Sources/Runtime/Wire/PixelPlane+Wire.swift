import CMessages
import ImageModel
import Messages

extension PixelPlane: WireMessage {
    typealias Form = Imagebus__V1__PixelPlane
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__pixel_plane__init }
    static var blank: Self {
        Self(bands: .grey, offset: 0, size: .blank, stride: 0, activeWidth: 0, activeHeight: 0)
    }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.word(&bands, &wire.pointee.bands, "PixelPlane.bands")
        try map.number(&offset, &wire.pointee.offset, "PixelPlane.offset")
        try map.number(&size.width, &wire.pointee.width, "PixelPlane.width")
        try map.number(&size.height, &wire.pointee.height, "PixelPlane.height")
        try map.number(&stride, &wire.pointee.stride, "PixelPlane.stride")
        try map.finite(&activeWidth, &wire.pointee.active_width, "PixelPlane.active_width")
        try map.finite(&activeHeight, &wire.pointee.active_height, "PixelPlane.active_height")
    }

    /// Rows hold their columns, and all but a fraction of the last column and row is image.
    func check(_ samples: SampleForm) throws(WireError) {
        guard byteCount(samples) != nil else { throw .field("PixelPlane.stride", .outOfRange) }
        guard isActive else { throw .field("PixelPlane.active", .outOfRange) }
    }
}
