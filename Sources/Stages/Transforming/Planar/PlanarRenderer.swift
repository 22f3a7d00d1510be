import ImageModel
import StageContract

/// Samples planes once, as a plan says.
struct PlanarRenderer {
    let plan: PlanarPlan
    let sampler: PlaneSampler

    /// The plane as the plan displays it.
    ///
    /// - Parameters:
    ///   - plane: of what is stored.
    ///   - active: the part of it that is image, in its samples.
    ///   - step: columns and rows of the result for which it has one sample. Where the last one
    ///     stands for fewer, it shows what lies beyond the edge as well, which is where the sample
    ///     is sited.
    func render(
        _ plane: Plane, active: (width: Double, height: Double), every step: PixelSize
    ) throws(ImageError) -> Plane {
        let size = plan.size(every: step)
        let covered = ActiveRegion(
            width: Double(size.width * step.width) / Double(plan.size.width),
            height: Double(size.height * step.height) / Double(plan.size.height))
        let all = ActiveRegion(width: active.width, height: active.height)
        let part = all.part(plan.part.part(covered.stored(plan.orientation)))
        let rect = Self.samples(all.part(plan.bounds), of: plane.size)
        let visible = rect.size == plane.size ? plane : plane.part(rect)
        let region = ActiveRegion(
            left: part.left - Double(rect.x), top: part.top - Double(rect.y), width: part.width,
            height: part.height)
        return try sampler.sample(visible, region.snapped, to: plan.orientation.stored(size))
            .displayed(plan.orientation)
    }

    /// All samples of which a part lies in the region.
    private static func samples(_ region: ActiveRegion, of size: PixelSize) -> PixelRect {
        let inner = region.snapped
        let left = min(size.width - 1, max(0, Int(inner.left.rounded(.down))))
        let top = min(size.height - 1, max(0, Int(inner.top.rounded(.down))))
        let right = min(size.width, Int((inner.left + inner.width).rounded(.up)))
        let bottom = min(size.height, Int((inner.top + inner.height).rounded(.up)))
        return PixelRect(
            x: left, y: top,
            size: PixelSize(width: max(1, right - left), height: max(1, bottom - top)))
    }
}

extension ActiveRegion {
    /// Without what is left of calculating with fractions.
    var snapped: ActiveRegion {
        ActiveRegion(
            left: Self.snapped(left), top: Self.snapped(top), width: Self.snapped(width),
            height: Self.snapped(height))
    }

    private static func snapped(_ value: Double) -> Double {
        let nearest = value.rounded()
        return abs(value - nearest) < 1e-6 ? nearest : value
    }
}
