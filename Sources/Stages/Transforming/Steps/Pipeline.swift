import ImageModel
import Messages

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
