/// One step of a transformation; the steps of a request run in the order given.
public enum TransformStep: Hashable, Sendable {
    /// Scale to a box in pixels.
    case resize(PixelSize, ResizeMode)
    /// Cut a rectangle out; it is intersected with the image first.
    case crop(PixelRect)
    /// Turn about the centre.
    case rotate(Rotation)
    /// Mirror left to right, top to bottom, or both.
    case flip(horizontal: Bool, vertical: Bool)
    /// Lay another image over it.
    case overlay(Overlay)
    /// Let a worker do what none of ours does.
    case custom(CustomStep)

    /// All that is known of it, apart from its pixels.
    package var form: any StepForm {
        switch self {
        case .resize(let box, let mode): ResizeStep(box: box, mode: mode)
        case .crop(let rect): CropStep(rect: rect)
        case .rotate(let rotation): RotateStep(rotation: rotation)
        case .flip(let horizontal, let vertical):
            FlipStep(horizontal: horizontal, vertical: vertical)
        case .overlay(let overlay): OverlayStep(overlay: overlay)
        case .custom(let step): step
        }
    }

    /// How people write steps, in the order of the help. A resize has a mode beside it, which is an
    /// option of its own.
    package static let syntaxes: [StepSyntax] = [
        CropStep.syntax, RotateStep.syntax, FlipStep.syntax, OverlayStep.syntax, CustomStep.syntax,
    ]

    /// The steps that workers of the own program do, by name.
    package static let ownNames =
        ["resize"] + syntaxes.map(\.name).filter { $0 != CustomStep.syntax.name }

    /// The steps that have a name on the wire and no message: what such a name makes of parameters.
    private static let named: [String: @Sendable ([String: String]) -> TransformStep?] = [:]
}

extension TransformStep {
    /// SDWebImage's transformer key (SEMANTICS §4.5); what upstream does not have has a name of its
    /// own. Keys know an overlay by the name of its original (`CacheKey`).
    public var key: String { form.key }

    /// The word for this step in errors and on the command line.
    public var name: String { form.name }

    /// A step by its name on the wire; `nil` for a name without a point, which is one of ours, that
    /// this version does not know, and for parameters that the step does not have.
    package init?(named name: String, parameters: [String: String]) {
        if CustomStep.isName(name) {
            self = .custom(CustomStep(name, parameters: parameters))
        } else {
            guard let step = Self.named[name]?(parameters) else { return nil }
            self = step
        }
    }

    /// The size of what the step makes of an image of that size; `nil` where it makes nothing of
    /// it, or where the numbers are beyond all limits.
    public func size(after source: PixelSize) -> PixelSize? {
        guard source.isPositive, max(source.width, source.height) <= Int(Int32.max) else {
            return nil
        }
        return form.size(after: source)
    }
}
