import CMessages
import ImageModel

// Sizes of requests travel as they are, negative ones too: admission refuses them with a reason.
extension PixelSize {
    init(
        _ wire: UnsafeMutablePointer<Imagebus__V1__Size>?, _ field: String, _ read: FieldReader
    ) throws(WireError) {
        let part = try read.required(wire, field)
        self.init(
            width: try read.exactly(part.width, field), height: try read.exactly(part.height, field)
        )
    }

    func wire(_ write: FieldWriter) throws(WireError) -> UnsafeMutablePointer<Imagebus__V1__Size> {
        let wire = try write.make(imagebus__v1__size__init)
        wire.pointee.width = Int64(width)
        wire.pointee.height = Int64(height)
        return wire
    }
}

extension PixelRect {
    init(_ wire: Imagebus__V1__Rect, _ read: FieldReader) throws(WireError) {
        self.init(
            x: try read.exactly(wire.x, "Rect.x"), y: try read.exactly(wire.y, "Rect.y"),
            size: try PixelSize(wire.size, "Rect.size", read))
    }

    func wire(_ write: FieldWriter) throws(WireError) -> UnsafeMutablePointer<Imagebus__V1__Rect> {
        let wire = try write.make(imagebus__v1__rect__init)
        wire.pointee.x = Int64(x)
        wire.pointee.y = Int64(y)
        wire.pointee.size = try size.wire(write)
        return wire
    }
}
