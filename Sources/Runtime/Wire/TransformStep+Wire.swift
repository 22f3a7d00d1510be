import CMessages
import ImageModel
import Messages

extension TransformStep: WireMessage {
    typealias Form = Imagebus__V1__Step
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__step__init }
    static var blank: Self { .flip(horizontal: false, vertical: false) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        if try map.part(
            {
                if case .resize(let box, let mode, let enlarges) = self {
                    Resize(box: box, mode: mode, enlarges: enlarges)
                } else {
                    nil
                }
            }, { self = .resize($0.box, $0.mode, enlarges: $0.enlarges) }, &wire.pointee.resize,
            if: &wire.pointee.step_case, 1, "Step.resize")
        {
            return
        }
        if try map.part(
            { if case .crop(let rect) = self { rect } else { nil } }, { self = .crop($0) },
            &wire.pointee.crop,
            if: &wire.pointee.step_case, 2, "Step.crop")
        {
            return
        }
        if try map.part(
            { if case .rotate(let rotation) = self { rotation } else { nil } },
            { self = .rotate($0) }, &wire.pointee.rotate,
            if: &wire.pointee.step_case, 3, "Step.rotate")
        {
            return
        }
        if try map.part(
            { Flip(self) }, { self = .flip(horizontal: $0.horizontal, vertical: $0.vertical) },
            &wire.pointee.flip,
            if: &wire.pointee.step_case, 4, "Step.flip")
        {
            return
        }
        if try map.part(
            { if case .overlay(let overlay) = self { overlay } else { nil } },
            { self = .overlay($0) }, &wire.pointee.overlay,
            if: &wire.pointee.step_case, 5, "Step.overlay")
        {
            return
        }
        if try map.part(
            { StepByName(self) }, { self = $0.step ?? self }, &wire.pointee.named,
            if: &wire.pointee.step_case, 6, "Step.named")
        {
            return
        }
        throw .field("Step.step", .missing)
    }
}
