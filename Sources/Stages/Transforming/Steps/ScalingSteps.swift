import Model
import Vips

/// Scales, and keeps a part of the result (SEMANTICS §11.8). Only the visible area is scaled, so
/// that a long strip needs no more memory than its result. The margins of a letterbox are a
/// separate operation (`Pad`).
struct Scale: ImageStep {
    let name: String
    /// Selects the part of a size whose position is not known.
    var gravity = Gravity.center
    /// Returns the size and what is kept of it, or throws if the size isn't possible.
    let scaling: (PixelSize) throws -> Scaling

    struct Scaling {
        /// The size of the whole scaled image.
        let whole: PixelSize
        /// The size that is kept, at `part` if its position is known.
        let output: PixelSize
        let part: PixelRect?
    }

    func checkedSize(after source: PixelSize) throws -> PixelSize {
        let scaling = try scaling(source)
        return scaling.part?.size ?? scaling.whole
    }

    func apply(to current: StepImage) throws -> StepImage {
        let scaling = try scaling(current.size)
        guard let part = scaling.part else {
            return try current.resampled(to: scaling.whole).cut(scaling.output, by: gravity)
        }
        return try current.resampled(to: scaling.whole, keeping: part)
    }

    func fold(into plan: inout PlanarPlan) -> Bool {
        guard let scaling = try? scaling(plan.size), let part = scaling.part,
            plan.scale(to: scaling.whole)
        else { return false }
        plan.crop(part)
        return true
    }
}

extension ResizeStep: PixelStep {
    /// Scales to a box: inside it, around it, or exactly to its size. Of an odd excess of a fill,
    /// the larger half is cut off at the right and the bottom.
    var imageSteps: [any ImageStep] {
        let scale = Scale(name: name) { source in try scaling(of: source) }
        guard mode == .letterbox, box.isPositive else { return [scale] }
        return [scale, Pad { [box] in box.atLeast($0) }]
    }

    fileprivate func scaling(of source: PixelSize) throws -> Scale.Scaling {
        _ = try size(after: source, orThrow: "a box of \(box) has no pixels")
        let geometry = geometry(of: source)
        let output = mode == .fill && box.isPositive ? geometry.output : geometry.scaled
        return Scale.Scaling(
            whole: geometry.scaled, output: output, part: geometry.scaled.middle(output))
    }
}

extension ScaleDownStep: PixelStep {
    /// Scales the image, at its current size, down to a limit of pixel bytes.
    var imageSteps: [any ImageStep] {
        [
            Scale(name: name) { source in
                try resize(of: source).scaling(of: source)
            }
        ]
    }
}

extension ResizeToStep: PixelStep {
    /// Scales to a box that may depend on the image, and crops the excess of a fill.
    var imageSteps: [any ImageStep] {
        [
            Scale(name: name, gravity: gravity) { source in
                guard let geometry = geometry(of: source) else {
                    throw ImageError.step(name, "a box of \(box) has no or too many pixels")
                }
                return Scale.Scaling(
                    whole: geometry.scaled, output: geometry.output,
                    part: part(geometry.output, of: geometry.scaled, source: source))
            }
        ]
    }
}

/// The last operation: scales an image that the decoder reduced, and that no resize has consumed,
/// to its nominal size.
struct ApplyScale: ImageStep {
    var name: String { "settle" }

    func apply(to current: StepImage) throws -> StepImage { try current.settled() }

    /// A plan always has the size of the result.
    func fold(into plan: inout PlanarPlan) -> Bool { true }
}
