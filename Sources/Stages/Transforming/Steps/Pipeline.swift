import ImageModel
import Messages
import Vips

/// The order of work on one image.
struct Pipeline {
    let steps: [any ImageStep]
    /// How many of them were there when each step of the request had its own.
    private let ends: [Int]

    /// `overlays` are what its steps lay over the image, in their order; throws where there are
    /// more or fewer.
    init(_ steps: [TransformStep], overlays: [PixelSource] = []) throws(ImageError) {
        guard steps.count(where: { $0.overlay != nil }) == overlays.count else {
            throw ImageError(.internalError, "a job has other overlays than its steps")
        }
        var sources = overlays.makeIterator()
        var pipeline: [any ImageStep] = []
        var ends: [Int] = []
        for step in steps {
            if let overlay = step.overlay, let source = sources.next() {
                pipeline.append(Composite(overlay: overlay, source: source))
            } else {
                pipeline += try Self.steps(step)
            }
            ends.append(pipeline.count)
        }
        self.ends = ends
        self.steps = pipeline + [ApplyScale()]
    }

    /// Adds to the plan what it can say, and answers the steps that are left, from the first one on
    /// that it cannot; none left where the last ones do nothing more.
    func fold(
        into plan: inout PlanarPlan, limits: ImageLimits
    ) throws(ImageError) -> [any ImageStep] {
        for (index, step) in steps.enumerated() {
            guard try step.fold(into: &plan, limits: limits) else { return Array(steps[index...]) }
        }
        return []
    }

    /// How many steps of the request are done when these are left.
    func steps(before left: [any ImageStep]) -> Int {
        ends.count { $0 <= steps.count - left.count }
    }

    /// Throws where no worker of this kind does the step.
    private static func steps(_ step: TransformStep) throws(ImageError) -> [any ImageStep] {
        if case .custom(let custom) = step { throw custom.notGranted }
        guard let known = step.form as? any PixelStep else {
            throw .step(step.name, "this version has no pixels for it")
        }
        return known.imageSteps
    }
}

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
