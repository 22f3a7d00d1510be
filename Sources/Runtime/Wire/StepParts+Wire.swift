import CMessages
import ImageModel

/// A box and how it is filled.
struct Resize: WireMessage {
    var box: PixelSize
    var mode: ResizeMode

    static var begin: (CPart<Imagebus__V1__Resize>?) -> Void { imagebus__v1__resize__init }
    static var blank: Self { Self(box: .blank, mode: .stretch) }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__Resize>
    ) throws(WireError) {
        try map.part(&value.box, &wire.pointee.box, "Resize.box")
        try map.word(&value.mode, &wire.pointee.mode, "Resize.mode")
    }
}

extension Rotation: WireMessage {
    static var begin: (CPart<Imagebus__V1__Rotate>?) -> Void { imagebus__v1__rotate__init }
    static var blank: Self { Self(radians: 0, fitsSize: false) }

    static func fields(
        _ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__Rotate>
    ) throws(WireError) {
        try map.finite(&value.radians, &wire.pointee.radians, "Rotate.radians")
        map.flag(&value.fitsSize, &wire.pointee.fits_size, "Rotate.fits_size")
    }
}

/// Which way an image is mirrored.
struct Flip: WireMessage {
    var horizontal: Bool
    var vertical: Bool

    static var begin: (CPart<Imagebus__V1__Flip>?) -> Void { imagebus__v1__flip__init }
    static var blank: Self { Self(horizontal: false, vertical: false) }

    static func fields(_ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__Flip>)
        throws(WireError)
    {
        map.flag(&value.horizontal, &wire.pointee.horizontal, "Flip.horizontal")
        map.flag(&value.vertical, &wire.pointee.vertical, "Flip.vertical")
    }

    private init(horizontal: Bool, vertical: Bool) {
        (self.horizontal, self.vertical) = (horizontal, vertical)
    }

    /// `nil` for a step of another kind.
    init?(_ step: TransformStep) {
        guard case .flip(let horizontal, let vertical) = step else { return nil }
        self.init(horizontal: horizontal, vertical: vertical)
    }
}
