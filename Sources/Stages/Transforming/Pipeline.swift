import ImageModel
import Messages

/// The order of work on one picture.
struct Pipeline {
    let steps: [any PictureStep]

    init(_ work: TransformWork) {
        steps =
            work.steps.map(Self.step)
            + [Settle()]
    }

    private static func step(_ step: TransformStep) -> any PictureStep {
        switch step {
        case .resize(let box, let mode): Resize(box: box, mode: mode)
        case .crop(let rect): Crop(rect: rect)
        case .rotate(let rotation): Rotate(rotation: rotation)
        case .flip(let horizontal, let vertical):
            Flip(horizontal: horizontal, vertical: vertical)
        }
    }
}
