import ImageModel

/// Fills a box: the part of the image that the box shows is scaled, so that a long strip needs no
/// more memory than its result. Of an odd rest the greater half is cut off at the right and the
/// bottom.
struct Fill: ImageStep {
    let step: ResizeStep

    var name: String { step.name }

    func size(after source: PixelSize) throws(ImageError) -> PixelSize {
        guard let size = step.size(after: source) else {
            throw .step(name, "a box of \(step.box) has no pixels")
        }
        return size
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
