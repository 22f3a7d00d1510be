import CMessages
import ImageModel
import Messages

extension PixelLayout {
    /// Rows hold their columns, the whole fits an `Int`, and the active part is the picture but for
    /// a fraction of the last column and row.
    init(_ wire: Imagebus__V1__PixelLayout, _ read: FieldReader) throws(WireError) {
        self.init(
            bands: try read.known(wire.bands.rawValue, "PixelLayout.bands"),
            size: PixelSize(
                width: try read.exactly(wire.width, "PixelLayout.width"),
                height: try read.exactly(wire.height, "PixelLayout.height")),
            stride: try read.exactly(wire.stride, "PixelLayout.stride"),
            activeWidth: try read.finite(wire.active_width, "PixelLayout.active_width"),
            activeHeight: try read.finite(wire.active_height, "PixelLayout.active_height"))
        try check()
    }

    func wire(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__PixelLayout>
    {
        try check()
        let wire = try write.make(imagebus__v1__pixel_layout__init)
        wire.pointee.bands = .init(rawValue: .init(bands.rawValue))
        wire.pointee.width = try write.exactly(size.width, "PixelLayout.width")
        wire.pointee.height = try write.exactly(size.height, "PixelLayout.height")
        wire.pointee.stride = try write.exactly(stride, "PixelLayout.stride")
        wire.pointee.active_width = try write.finite(activeWidth, "PixelLayout.active_width")
        wire.pointee.active_height = try write.finite(activeHeight, "PixelLayout.active_height")
        return wire
    }

    /// The bytes that the layout describes lie in the referenced ones.
    func check(in reference: BlockReference, _ field: String) throws(WireError) {
        guard let byteCount, UInt64(byteCount) <= reference.length else {
            throw .field(field, .outOfRange)
        }
    }

    private func check() throws(WireError) {
        guard byteCount != nil else { throw .field("PixelLayout.stride", .outOfRange) }
        guard Self.reaches(size.width, activeWidth) else {
            throw .field("PixelLayout.active_width", .outOfRange)
        }
        guard Self.reaches(size.height, activeHeight) else {
            throw .field("PixelLayout.active_height", .outOfRange)
        }
    }

    private static func reaches(_ side: Int, _ active: Double) -> Bool {
        active > Double(side - 1) && active <= Double(side)
    }
}
