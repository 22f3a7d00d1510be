import CMessages
import ImageModel
import Messages

extension PixelLayout: WireMessage {
    typealias Form = Imagebus__V1__PixelLayout
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__pixel_layout__init }
    static var blank: Self { Self(planes: [], orientation: .upright) }

    /// One plane, or three of one band; the whole fits an `Int`, and the active part is the image
    /// but for a fraction of the last column and row.
    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.list(
            &planes, &wire.pointee.n_planes, &wire.pointee.planes, "PixelLayout.planes",
            limit: Self.planesMax)
        var orientation = self.orientation.exif
        try map.number(
            &orientation, within: 1...8, &wire.pointee.orientation, "PixelLayout.orientation")
        self.orientation = Orientation(exif: orientation)
        try map.list(
            &enclosures, &wire.pointee.n_enclosures, &wire.pointee.enclosures,
            "PixelLayout.enclosures", limit: Enclosure.Kind.allCases.count)
        try map.number(
            &samples.bits, within: SampleForm.bitsRange, unless: 8, &wire.pointee.sample_bits,
            if: &wire.pointee.maybe_sample_bits_case, 4, "PixelLayout.sample_bits")
        try map.maybe(&samples.hdr, &wire.pointee.hdr, "PixelLayout.hdr")
        try map.maybe(&animation, &wire.pointee.animation, "PixelLayout.animation")
        try check()
    }

    /// The bytes that the layout describes lie in the referenced ones.
    func check(in reference: BlockReference, _ field: String) throws(WireError) {
        guard let byteCount, UInt64(byteCount) <= reference.length else {
            throw .field(field, .outOfRange)
        }
    }

    private func check() throws(WireError) {
        for plane in planes { try plane.check(samples) }
        guard pixelByteCount != nil else { throw .field("PixelLayout.planes", .outOfRange) }
        guard byteCount != nil else { throw .field("PixelLayout.enclosures", .outOfRange) }
    }
}
