import CMessages
import ImageModel
import Messages

extension PixelPlane {
    init(_ wire: Imagebus__V1__PixelPlane, _ read: FieldReader) throws(WireError) {
        self.init(
            bands: try read.known(wire.bands.rawValue, "PixelPlane.bands"),
            offset: try read.exactly(wire.offset, "PixelPlane.offset"),
            size: PixelSize(
                width: try read.exactly(wire.width, "PixelPlane.width"),
                height: try read.exactly(wire.height, "PixelPlane.height")),
            stride: try read.exactly(wire.stride, "PixelPlane.stride"),
            activeWidth: try read.finite(wire.active_width, "PixelPlane.active_width"),
            activeHeight: try read.finite(wire.active_height, "PixelPlane.active_height"))
    }

    func wire(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__PixelPlane>
    {
        let wire = try write.make(imagebus__v1__pixel_plane__init)
        wire.pointee.bands = .init(rawValue: .init(bands.rawValue))
        wire.pointee.offset = try write.exactly(offset, "PixelPlane.offset")
        wire.pointee.width = try write.exactly(size.width, "PixelPlane.width")
        wire.pointee.height = try write.exactly(size.height, "PixelPlane.height")
        wire.pointee.stride = try write.exactly(stride, "PixelPlane.stride")
        wire.pointee.active_width = try write.finite(activeWidth, "PixelPlane.active_width")
        wire.pointee.active_height = try write.finite(activeHeight, "PixelPlane.active_height")
        return wire
    }

    /// Rows hold their columns, and all but a fraction of the last column and row is picture.
    func check() throws(WireError) {
        guard byteCount != nil else { throw .field("PixelPlane.stride", .outOfRange) }
        guard isActive else { throw .field("PixelPlane.active", .outOfRange) }
    }
}
