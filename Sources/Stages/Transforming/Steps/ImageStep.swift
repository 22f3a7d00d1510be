import ImageModel
import Messages
import Vips

/// One step of a pipeline.
protocol ImageStep {
    /// What errors and logs call it.
    var name: String { get }

    /// The size of what `apply` makes of an image of `source`, or will have to make on the way
    /// where that is larger. Throws `stepFailed` where it makes nothing of it.
    func size(after source: PixelSize) throws(ImageError) -> PixelSize

    /// The image after the step; `size` did not throw for it.
    func apply(to current: StepImage) throws -> StepImage

    /// Adds the step to a plan for which `size` did not throw; false, and the plan as it was, where
    /// that cannot say what the step does.
    func fold(into plan: inout PlanarPlan) -> Bool
}

/// A step whose pixels are made here: a file for each. What else is known of it is its `StepForm`.
protocol PixelStep: StepForm {
    /// What is done, in order.
    var imageSteps: [any ImageStep] { get }
}

extension ImageStep {
    /// The step, after its result was found to be within the limits.
    func run(on current: StepImage, limits: ImageLimits) throws(ImageError) -> StepImage {
        let bytes = current.image.header.bytesPerBand
        try check(size(after: current.size), of: current.size, limits, bytesPerBand: bytes)
        do {
            return try apply(to: current)
        } catch {
            throw ImageError(transforming: error, step: name)
        }
    }

    /// The step as a part of a plan, after its result was found to be within the limits.
    func fold(into plan: inout PlanarPlan, limits: ImageLimits) throws(ImageError) -> Bool {
        try check(size(after: plan.size), of: plan.size, limits)
        return fold(into: &plan)
    }
}

extension ImageStep {
    /// Refuses what the step makes of an image of `source`. One that leaves the size, or turns it,
    /// is not asked: the image may have fewer pixels than it counts, and so be within the limits.
    /// At the end it has as many as it counts.
    private func check(
        _ size: PixelSize, of source: PixelSize, _ limits: ImageLimits, bytesPerBand: Int = 1
    ) throws(ImageError) {
        let staysOrTurns = size == source || size == source.transposed
        if self is ApplyScale || !staysOrTurns {
            try limits.check(size, step: name, bytesPerBand: bytesPerBand)
        }
    }
}

extension ImageLimits {
    /// Four samples a pixel are assumed, since a step may add an alpha band.
    func check(
        _ size: PixelSize, step: String, bytesPerBand: Int = 1
    ) throws(ImageError) {
        guard size.width <= sideMax, size.height <= sideMax else {
            throw .over("sideMax", step, "\(size) after \(step), a side may have \(sideMax) pixels")
        }
        guard let area = size.area, area <= pixelsMax,
            area <= pixelBytesMax / (4 * bytesPerBand)
        else {
            throw .over("pixelsMax", step, "\(size) after \(step) is over the limit")
        }
    }
}
