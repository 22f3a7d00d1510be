import CMessages
import ImageModel
import Messages

extension PixelLayout {
    /// One plane, or three of one band; the whole fits an `Int`, and the active part is the picture
    /// but for a fraction of the last column and row.
    init(_ wire: Imagebus__V1__PixelLayout, _ read: FieldReader) throws(WireError) {
        let planes = try read.list(
            wire.n_planes, wire.planes, "PixelLayout.planes", limit: Self.planesMax
        ) { part throws(WireError) in try PixelPlane(part, read) }
        guard (1...8).contains(wire.orientation) else {
            throw .field("PixelLayout.orientation", .outOfRange)
        }
        self.init(planes: planes, orientation: Orientation(exif: Int(wire.orientation)))
        try check()
    }

    func wire(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__PixelLayout>
    {
        try check()
        let wire = try write.make(imagebus__v1__pixel_layout__init)
        wire.pointee.n_planes = planes.count
        wire.pointee.planes = try write.list(
            planes, "PixelLayout.planes", limit: Self.planesMax
        ) { plane throws(WireError) in try plane.wire(write) }
        wire.pointee.orientation = UInt32(orientation.exif)
        return wire
    }

    /// The bytes that the layout describes lie in the referenced ones.
    func check(in reference: BlockReference, _ field: String) throws(WireError) {
        guard let byteCount, UInt64(byteCount) <= reference.length else {
            throw .field(field, .outOfRange)
        }
    }

    private func check() throws(WireError) {
        for plane in planes { try plane.check() }
        guard byteCount != nil else { throw .field("PixelLayout.planes", .outOfRange) }
    }
}
