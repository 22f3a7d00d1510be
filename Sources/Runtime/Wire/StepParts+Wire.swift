import CMessages
import ImageModel

/// A box and how it is filled.
struct Resize: WireMessage {
    var box: PixelSize
    var mode: ResizeMode
    var enlarges: Bool

    typealias Form = Imagebus__V1__Resize
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__resize__init }
    static var blank: Self { Self(box: .blank, mode: .stretch, enlarges: true) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.part(&box, &wire.pointee.box, "Resize.box")
        try map.word(&mode, &wire.pointee.mode, "Resize.mode")
        map.flag(
            &enlarges, unless: mode.enlarges, &wire.pointee.enlarges,
            if: &wire.pointee.maybe_enlarges_case, 3, "Resize.enlarges")
    }
}

extension Rotation: WireMessage {
    typealias Form = Imagebus__V1__Rotate
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__rotate__init }
    static var blank: Self { Self(radians: 0, fitsSize: false) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.finite(&radians, &wire.pointee.radians, "Rotate.radians")
        map.flag(&fitsSize, &wire.pointee.fits_size, "Rotate.fits_size")
    }
}

/// Which way an image is mirrored.
struct Flip: WireMessage {
    var horizontal: Bool
    var vertical: Bool

    typealias Form = Imagebus__V1__Flip
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__flip__init }
    static var blank: Self { Self(horizontal: false, vertical: false) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        map.flag(&horizontal, &wire.pointee.horizontal, "Flip.horizontal")
        map.flag(&vertical, &wire.pointee.vertical, "Flip.vertical")
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
