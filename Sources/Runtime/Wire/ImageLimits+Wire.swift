import CMessages
import Messages

extension ImageLimits {
    init(_ wire: Imagebus__V1__Limits, _ read: FieldReader) throws(WireError) {
        self.init(
            sideMax: try read.exactly(wire.side_max, "Limits.side_max"),
            pixelsMax: try read.exactly(wire.pixels_max, "Limits.pixels_max"),
            pixelBytesMax: try read.exactly(wire.pixel_bytes_max, "Limits.pixel_bytes_max"),
            pagesMax: try read.exactly(wire.pages_max, "Limits.pages_max"))
    }

    func wire(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__Limits>
    {
        let wire = try write.make(imagebus__v1__limits__init)
        wire.pointee.side_max = try write.exactly(sideMax, "Limits.side_max")
        wire.pointee.pixels_max = try write.exactly(pixelsMax, "Limits.pixels_max")
        wire.pointee.pixel_bytes_max = try write.exactly(
            pixelBytesMax, "Limits.pixel_bytes_max")
        wire.pointee.pages_max = try write.exactly(pagesMax, "Limits.pages_max")
        return wire
    }
}
