import Model
import Vips

/// Scales to a box: inside it, around it, or exactly to its size (SEMANTICS §11.8). The margins of
/// a letterbox are a separate operation (`Pad`); `Fill` scales and crops at once.
struct Scale: ImageStep {
    let step: ResizeStep

    var name: String { step.name }

    func checkedSize(after source: PixelSize) throws(ImageError) -> PixelSize {
        _ = try step.size(after: source, orThrow: "a box of \(step.box) has no pixels")
        return target(for: source)
    }

    func apply(to current: StepImage) throws -> StepImage {
        try current.resampled(to: target(for: current.size))
    }

    func fold(into plan: inout PlanarPlan) -> Bool { plan.scale(to: target(for: plan.size)) }

    private func target(for source: PixelSize) -> PixelSize {
        step.geometry(of: source).scaled
    }
}

extension ResizeStep: PixelStep {
    var imageSteps: [any ImageStep] {
        switch mode {
        case .fill where box.isPositive: [Fill(step: self)]
        case .letterbox where box.isPositive:
            [Scale(step: self), Pad { [box] in box.atLeast($0) }]
        default: [Scale(step: self)]
        }
    }
}

/// Scales the image, at its current size, down to a limit of pixel bytes.
extension ScaleDownStep: PixelStep, ImageStep {
    func checkedSize(after source: PixelSize) throws(ImageError) -> PixelSize {
        try scale(of: source).checkedSize(after: source)
    }

    func apply(to current: StepImage) throws -> StepImage {
        try scale(of: current.size).apply(to: current)
    }

    func fold(into plan: inout PlanarPlan) -> Bool { scale(of: plan.size).fold(into: &plan) }

    private func scale(of source: PixelSize) -> Scale { Scale(step: resize(of: source)) }
}

/// Fills a box: only the visible area is scaled, so that a long strip needs no more memory than its
/// result. Of an odd remainder the larger half is cut off at the right and the bottom.
struct Fill: ImageStep {
    let step: ResizeStep

    var name: String { step.name }

    func checkedSize(after source: PixelSize) throws(ImageError) -> PixelSize {
        try step.size(after: source, orThrow: "a box of \(step.box) has no pixels")
    }

    func apply(to current: StepImage) throws -> StepImage {
        let geometry = step.geometry(of: current.size)
        let part = geometry.scaled.middle(geometry.output)
        return try current.resampled(to: geometry.scaled, keeping: part)
    }

    func fold(into plan: inout PlanarPlan) -> Bool {
        let geometry = step.geometry(of: plan.size)
        guard plan.scale(to: geometry.scaled) else { return false }
        plan.crop(geometry.scaled.middle(geometry.output))
        return true
    }
}

/// Scales to a box that may depend on the image, and crops the excess of a fill.
extension ResizeToStep: PixelStep, ImageStep {
    func checkedSize(after source: PixelSize) throws(ImageError) -> PixelSize {
        guard let geometry = self.geometry(of: source) else {
            throw .step(name, "a box of \(box) has no or too many pixels")
        }
        let isKnown = self.part(geometry.output, of: geometry.scaled, source: source) != nil
        return isKnown ? geometry.output : geometry.scaled
    }

    func apply(to current: StepImage) throws -> StepImage {
        guard let geometry = self.geometry(of: current.size) else { return current }
        let part = self.part(geometry.output, of: geometry.scaled, source: current.size)
        guard let part else {
            return try current.resampled(to: geometry.scaled)
                .cut(geometry.output, by: gravity)
        }
        return try current.resampled(to: geometry.scaled, keeping: part)
    }

    func fold(into plan: inout PlanarPlan) -> Bool {
        guard let geometry = self.geometry(of: plan.size),
            let part = self.part(geometry.output, of: geometry.scaled, source: plan.size),
            plan.scale(to: geometry.scaled)
        else { return false }
        plan.crop(part)
        return true
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
