import CMessages
import ImageModel
import Messages

extension TransformStep: WireMessage {
    static var begin: (CPart<Imagebus__V1__Step>?) -> Void { imagebus__v1__step__init }
    static var blank: Self { .flip(horizontal: false, vertical: false) }

    static func fields(_ map: some FieldMap, _ value: inout Self, _ wire: CPart<Imagebus__V1__Step>)
        throws(WireError)
    {
        if try map.part(
            {
                if case .resize(let box, let mode) = value {
                    Resize(box: box, mode: mode)
                } else {
                    nil
                }
            }, { value = .resize($0.box, $0.mode) }, &wire.pointee.resize,
            if: &wire.pointee.step_case, 1, "Step.resize")
        {
            return
        }
        if try map.part(
            { if case .crop(let rect) = value { rect } else { nil } }, { value = .crop($0) },
            &wire.pointee.crop,
            if: &wire.pointee.step_case, 2, "Step.crop")
        {
            return
        }
        if try map.part(
            { if case .rotate(let rotation) = value { rotation } else { nil } },
            { value = .rotate($0) }, &wire.pointee.rotate,
            if: &wire.pointee.step_case, 3, "Step.rotate")
        {
            return
        }
        if try map.part(
            { Flip(value) }, { value = .flip(horizontal: $0.horizontal, vertical: $0.vertical) },
            &wire.pointee.flip,
            if: &wire.pointee.step_case, 4, "Step.flip")
        {
            return
        }
        if try map.part(
            { if case .overlay(let overlay) = value { overlay } else { nil } },
            { value = .overlay($0) }, &wire.pointee.overlay,
            if: &wire.pointee.step_case, 5, "Step.overlay")
        {
            return
        }
        if try map.part(
            { StepByName(value) }, { value = $0.step ?? value }, &wire.pointee.named,
            if: &wire.pointee.step_case, 6, "Step.named")
        {
            return
        }
        throw .field("Step.step", .missing)
    }
}
