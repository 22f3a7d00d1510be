import CMessages
import ImageModel
import Messages

extension PixelPlane: WireMessage {
    static var begin: (CPart<Imagebus__V1__PixelPlane>?) -> Void { imagebus__v1__pixel_plane__init }
    static var blank: Self {
        Self(bands: .grey, offset: 0, size: .blank, stride: 0, activeWidth: 0, activeHeight: 0)
    }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__PixelPlane>
    ) throws(WireError) {
        try map.word(&value.bands, &wire.pointee.bands, "PixelPlane.bands")
        try map.number(&value.offset, &wire.pointee.offset, "PixelPlane.offset")
        try map.number(&value.size.width, &wire.pointee.width, "PixelPlane.width")
        try map.number(&value.size.height, &wire.pointee.height, "PixelPlane.height")
        try map.number(&value.stride, &wire.pointee.stride, "PixelPlane.stride")
        try map.finite(&value.activeWidth, &wire.pointee.active_width, "PixelPlane.active_width")
        try map.finite(&value.activeHeight, &wire.pointee.active_height, "PixelPlane.active_height")
    }

    /// Rows hold their columns, and all but a fraction of the last column and row is image.
    func check() throws(WireError) {
        guard byteCount != nil else { throw .field("PixelPlane.stride", .outOfRange) }
        guard isActive else { throw .field("PixelPlane.active", .outOfRange) }
    }
}
