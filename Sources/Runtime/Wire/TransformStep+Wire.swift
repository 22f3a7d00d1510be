import CMessages
import ImageModel
import Messages

extension TransformStep {
    init(_ wire: Imagebus__V1__Step, _ read: FieldReader) throws(WireError) {
        switch wire.step_case {
        case IMAGEBUS__V1__STEP__STEP_RESIZE:
            let part = try read.required(wire.resize, "Step.resize")
            self = .resize(
                try PixelSize(part.box, "Resize.box", read),
                try read.known(part.mode.rawValue, "Resize.mode"))
        case IMAGEBUS__V1__STEP__STEP_CROP:
            self = .crop(try PixelRect(try read.required(wire.crop, "Step.crop"), read))
        case IMAGEBUS__V1__STEP__STEP_ROTATE:
            let part = try read.required(wire.rotate, "Step.rotate")
            self = .rotate(
                Rotation(
                    radians: try read.finite(part.radians, "Rotate.radians"),
                    fitsSize: part.fits_size != 0))
        case IMAGEBUS__V1__STEP__STEP_FLIP:
            let part = try read.required(wire.flip, "Step.flip")
            self = .flip(horizontal: part.horizontal != 0, vertical: part.vertical != 0)
        case IMAGEBUS__V1__STEP__STEP_OVERLAY:
            self = .overlay(try Overlay(try read.required(wire.overlay, "Step.overlay"), read))
        case IMAGEBUS__V1__STEP__STEP_NAMED:
            self = try Self.named(try read.required(wire.named, "Step.named"), read)
        default: throw .field("Step.step", .missing)
        }
    }

    func wire(_ write: FieldWriter) throws(WireError) -> UnsafeMutablePointer<Imagebus__V1__Step> {
        let wire = try write.make(imagebus__v1__step__init)
        switch self {
        case .resize(let box, let mode):
            wire.pointee.step_case = IMAGEBUS__V1__STEP__STEP_RESIZE
            wire.pointee.resize = try Self.resize(box, mode, write)
        case .crop(let rect):
            wire.pointee.step_case = IMAGEBUS__V1__STEP__STEP_CROP
            wire.pointee.crop = try rect.wire(write)
        case .rotate(let rotation):
            wire.pointee.step_case = IMAGEBUS__V1__STEP__STEP_ROTATE
            wire.pointee.rotate = try rotation.wire(write)
        case .flip(let horizontal, let vertical):
            wire.pointee.step_case = IMAGEBUS__V1__STEP__STEP_FLIP
            let part = try write.make(imagebus__v1__flip__init)
            part.pointee.horizontal = horizontal ? 1 : 0
            part.pointee.vertical = vertical ? 1 : 0
            wire.pointee.flip = part
        case .overlay(let overlay):
            wire.pointee.step_case = IMAGEBUS__V1__STEP__STEP_OVERLAY
            wire.pointee.overlay = try overlay.wire(write)
        default:
            wire.pointee.step_case = IMAGEBUS__V1__STEP__STEP_NAMED
            wire.pointee.named = try named(write)
        }
        return wire
    }

    /// A box and how it is filled.
    static func resize(_ box: PixelSize, _ mode: ResizeMode, _ write: FieldWriter)
        throws(WireError) -> UnsafeMutablePointer<Imagebus__V1__Resize>
    {
        let wire = try write.make(imagebus__v1__resize__init)
        wire.pointee.box = try box.wire(write)
        wire.pointee.mode = .init(rawValue: .init(mode.rawValue))
        return wire
    }

    /// The steps of a request or of a job.
    static func list(
        _ count: Int, _ steps: UnsafeMutablePointer<UnsafeMutablePointer<Imagebus__V1__Step>?>?,
        _ field: String, _ read: FieldReader
    ) throws(WireError) -> [TransformStep] {
        try read.list(count, steps, field, limit: stepsMax) { part throws(WireError) in
            try TransformStep(part, read)
        }
    }

    static func wire(_ steps: [TransformStep], _ field: String, _ write: FieldWriter)
        throws(WireError) -> UnsafeMutablePointer<UnsafeMutablePointer<Imagebus__V1__Step>?>
    {
        try write.list(steps, field, limit: stepsMax) { step throws(WireError) in
            try step.wire(write)
        }
    }

    /// One more than a request has: a job counts the thumbnail as a step.
    private static let stepsMax = RequestLimits.stepsMax + 1
}

extension Rotation {
    fileprivate func wire(_ write: FieldWriter) throws(WireError)
        -> UnsafeMutablePointer<Imagebus__V1__Rotate>
    {
        let wire = try write.make(imagebus__v1__rotate__init)
        wire.pointee.radians = try write.finite(radians, "Rotate.radians")
        wire.pointee.fits_size = fitsSize ? 1 : 0
        return wire
    }
}
