import Model
import Vips

/// The sequence of operations on one image.
struct Pipeline {
    let steps: [any ImageStep]
    /// The number of operations up to and including each step of the request.
    private let ends: [Int]

    /// `overlays` are the overlay images of its steps, in order; throws if their number is wrong.
    init(_ steps: [TransformStep], overlays: [PixelSource] = []) throws {
        guard steps.count(where: { $0.overlay != nil }) == overlays.count else {
            throw ImageError(.internalError, "the overlays of the job do not match its steps")
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

    /// Adds as many operations to the plan as it supports, and returns the remaining ones, starting
    /// with the first unsupported one; empty if the last ones have no further effect.
    func fold(into plan: inout PlanarPlan, limits: ImageLimits) throws -> [any ImageStep] {
        for (index, step) in steps.enumerated() {
            guard try step.fold(into: &plan, limits: limits) else { return Array(steps[index...]) }
        }
        return []
    }

    /// Returns the number of completed steps of the request when these operations are left.
    func steps(before left: [any ImageStep]) -> Int {
        ends.count { $0 <= steps.count - left.count }
    }

    /// Throws if no worker of this kind implements the step.
    private static func steps(_ step: TransformStep) throws -> [any ImageStep] {
        if case .custom(let custom) = step { throw custom.notGranted }
        guard let known = step.form as? any PixelStep else {
            throw ImageError.step(step.name, "this version does not implement the step")
        }
        return known.imageSteps
    }
}

/// One operation of a pipeline.
protocol ImageStep {
    /// The name in errors and logs.
    var name: String { get }

    /// Returns the size after `apply` for an image of size `source`, or that of an intermediate
    /// image if that is larger; by default `source`. Throws `stepFailed` if the step isn't
    /// applicable.
    func checkedSize(after source: PixelSize) throws -> PixelSize

    /// Returns the image after the operation; `checkedSize` has not thrown for it.
    func apply(to current: StepImage) throws -> StepImage

    /// Adds the operation to a plan for which `checkedSize` did not throw; returns false without a
    /// change if the plan can't represent it, which is the default.
    func fold(into plan: inout PlanarPlan) -> Bool
}

extension ImageStep {
    func checkedSize(after source: PixelSize) throws -> PixelSize { source }

    func fold(into plan: inout PlanarPlan) -> Bool { false }
}

/// A step that this module implements; all but overlays and custom steps. Its other properties are
/// in its `StepForm`.
protocol PixelStep: StepForm {
    /// The operations of the step, in order; by default itself.
    var imageSteps: [any ImageStep] { get }
}

extension PixelStep where Self: ImageStep {
    var imageSteps: [any ImageStep] { [self] }
}

extension StepForm {
    /// Returns the size after the step, or throws with this text if it has none.
    func size(after source: PixelSize, orThrow text: String) throws -> PixelSize {
        guard let size = size(after: source) else { throw ImageError.step(name, text) }
        return size
    }
}

extension ImageStep {
    /// Runs the operation after checking the limits of its result.
    func run(on current: StepImage, limits: ImageLimits) throws -> StepImage {
        let bytes = current.image.header.bytesPerBand
        try check(checkedSize(after: current.size), of: current.size, limits, bytesPerBand: bytes)
        return try ImageError.mapping(name) { try apply(to: current) }
    }

    /// Adds the operation to a plan after checking the limits of its result.
    func fold(into plan: inout PlanarPlan, limits: ImageLimits) throws -> Bool {
        try check(checkedSize(after: plan.size), of: plan.size, limits)
        return fold(into: &plan)
    }
}

extension ImageStep {
    /// Rejects results that exceed the limits. Not checked for operations that keep or transpose
    /// the size: the image may have fewer pixels than its nominal size and so be within the limits.
    /// At the end it has its nominal size.
    private func check(
        _ size: PixelSize, of source: PixelSize, _ limits: ImageLimits, bytesPerBand: Int = 1
    ) throws {
        let staysOrTurns = size == source || size == source.transposed
        if self is ApplyScale || !staysOrTurns {
            try limits.check(size, step: name, bytesPerBand: bytesPerBand)
        }
    }
}

extension ImageLimits {
    /// Assumes four samples per pixel, since a step may add an alpha band.
    func check(_ size: PixelSize, step: String, bytesPerBand: Int = 1) throws {
        guard size.width <= sideMax, size.height <= sideMax else {
            throw ImageError.over(
                "sideMax", step,
                "\(size) after \(step) exceeds the limit of \(sideMax) pixels per side")
        }
        guard let area = size.area, area <= pixelsMax,
            area <= pixelBytesMax / (4 * bytesPerBand)
        else {
            throw ImageError.over("pixelsMax", step, "\(size) after \(step) exceeds the limit")
        }
    }
}
