import ImageModel
import Messages
import StageContract
import Vips

/// The way of planes through a job: each is sampled once, as the plan says; colours are joined only
/// where something asks for pixels.
struct PlanarLane {
    let source: PixelSource
    let plan: PlanarPlan
    let sampler: PlaneSampler
    private var memo: PlaneMemo?

    init(source: PixelSource, plan: PlanarPlan, sampler: PlaneSampler) {
        (self.source, self.plan, self.sampler) = (source, plan, sampler)
    }

    /// The same, which renders planes once, however often they are asked for.
    func remembering() -> PlanarLane {
        var lane = self
        lane.memo = PlaneMemo()
        return lane
    }

    /// Whether the samples lie apart, or there is but one a pixel.
    static func takes(_ layout: PixelLayout) -> Bool {
        !layout.samples.isDeep && layout.planes.allSatisfy { $0.bands == .grey }
    }

    var isGrey: Bool { plan.isGrey || !source.layout.isPlanar }

    /// Y, Cb and Cr, or grey alone, as the plan displays them; the colours with one sample for so
    /// many columns and rows of brightness.
    func planes(coloursEvery step: PixelSize) throws(ImageError) -> [Plane] {
        var planes: [Plane] = []
        for (index, plane) in source.layout.planes.prefix(isGrey ? 1 : 3).enumerated() {
            let every = index == 0 ? PixelSize(width: 1, height: 1) : step
            planes.append(try render(plane, at: index, every: every))
        }
        return planes
    }

    private func render(
        _ plane: PixelPlane, at index: Int, every step: PixelSize
    ) throws(ImageError) -> Plane {
        let key = PlaneMemo.Key(index: index, every: step)
        if let known = memo?.planes[key] { return known }
        let stored = Plane(source.pixels(of: plane), plane.size, stride: plane.stride)
        let rendered = try PlanarRenderer(plan: plan, sampler: sampler).render(
            stored, active: (plane.activeWidth, plane.activeHeight), every: step)
        memo?.planes[key] = rendered
        return rendered
    }

    /// Y, Cb and Cr in limited range, as the plan displays them; of grey the colours are none.
    func limitedPlanes(coloursEvery step: PixelSize) throws(ImageError) -> [Plane] {
        if let planes = memo?.limited { return planes }
        let planes = try makeLimitedPlanes(coloursEvery: step)
        memo?.limited = planes
        return planes
    }

    private func makeLimitedPlanes(
        coloursEvery step: PixelSize
    ) throws(ImageError) -> [Plane] {
        let full = try planes(coloursEvery: step)
        let luma = try sampler.limited([full[0]])
        guard isGrey else { return luma + (try sampler.limited([full[1], full[2]])) }
        let neutral = Plane(plan.size(every: step), filledWith: 128)
        return luma + [neutral, neutral]
    }

    /// Grey or sRGB pixels, as the plan displays them.
    func stepImage() throws(ImageError) -> StepImage {
        try joined(planes(coloursEvery: PixelSize(width: 1, height: 1)))
    }

    /// The same, made so large afterwards.
    func stepImage(resampledTo size: PixelSize) throws(ImageError) -> StepImage {
        let region = ActiveRegion(
            width: Double(plan.size.width), height: Double(plan.size.height))
        var sampled: [Plane] = []
        for plane in try planes(coloursEvery: PixelSize(width: 1, height: 1)) {
            sampled.append(try sampler.sample(plane, region, to: size))
        }
        return try joined(sampled)
    }

    private func joined(_ planes: [Plane]) throws(ImageError) -> StepImage {
        let pixels = try InterleavedPixels(joining: isGrey ? planes : sampler.rgb(planes))
        do {
            return try StepImage(pixels, sampler: sampler)
        } catch {
            throw ImageError(transforming: error, step: "open")
        }
    }
}
