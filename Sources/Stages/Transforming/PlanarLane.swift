import Model
import Vips

/// Processes planes without converting them: each is sampled once according to the plan, and they
/// are only joined if something needs pixels.
struct PlanarLane {
    let source: PixelSource
    let plan: PlanarPlan
    let sampler: PlaneSampler
    private var memo: PlaneMemo?

    init(source: PixelSource, plan: PlanarPlan, sampler: PlaneSampler) {
        (self.source, self.plan, self.sampler) = (source, plan, sampler)
    }

    /// Returns the same lane with a memo, so that planes are rendered only once.
    func remembering() -> PlanarLane {
        var lane = self
        lane.memo = PlaneMemo()
        return lane
    }

    /// Returns whether the samples are planar, or there is only one per pixel.
    static func takes(_ layout: PixelLayout) -> Bool {
        !layout.samples.isDeep && layout.planes.allSatisfy { $0.bands == .gray }
    }

    var isGray: Bool { plan.isGray || !source.layout.isPlanar }

    /// Returns Y, Cb and Cr, or only gray, as displayed by the plan; chroma has one sample per
    /// `step` of luma.
    func planes(colorsEvery step: PixelSize) throws -> [Plane] {
        var planes: [Plane] = []
        for (index, plane) in source.layout.planes.prefix(isGray ? 1 : 3).enumerated() {
            let every = index == 0 ? PixelSize(width: 1, height: 1) : step
            planes.append(try render(plane, at: index, every: every))
        }
        return planes
    }

    private func render(_ plane: PixelPlane, at index: Int, every step: PixelSize) throws -> Plane {
        let key = PlaneMemo.Key(index: index, every: step)
        if let known = memo?.planes[key] { return known }
        let stored = Plane(source.pixels(of: plane), plane.size, stride: plane.stride)
        let rendered = try PlanarRenderer(plan: plan, sampler: sampler).render(
            stored, active: (plane.activeWidth, plane.activeHeight), every: step)
        memo?.planes[key] = rendered
        return rendered
    }

    /// Returns Y, Cb and Cr in limited range, as displayed by the plan; gray has no chroma.
    func limitedPlanes(colorsEvery step: PixelSize) throws -> [Plane] {
        if let planes = memo?.limited { return planes }
        let planes = try makeLimitedPlanes(colorsEvery: step)
        memo?.limited = planes
        return planes
    }

    private func makeLimitedPlanes(colorsEvery step: PixelSize) throws -> [Plane] {
        let full = try planes(colorsEvery: step)
        let luma = try sampler.limited([full[0]])
        guard isGray else { return luma + (try sampler.limited([full[1], full[2]])) }
        let neutral = Plane(plan.size(every: step), filledWith: 128)
        return luma + [neutral, neutral]
    }

    /// Returns gray or sRGB pixels, as displayed by the plan.
    func stepImage() throws -> StepImage {
        try joined(planes(colorsEvery: PixelSize(width: 1, height: 1)))
    }

    /// Returns the same, resampled to another size.
    func stepImage(resampledTo size: PixelSize) throws -> StepImage {
        let region = ActiveRegion(of: plan.size)
        var sampled: [Plane] = []
        for plane in try planes(colorsEvery: PixelSize(width: 1, height: 1)) {
            sampled.append(try sampler.sample(plane, region, to: size))
        }
        return try joined(sampled)
    }

    private func joined(_ planes: [Plane]) throws -> StepImage {
        let pixels = try InterleavedPixels(joining: isGray ? planes : sampler.rgb(planes))
        return try ImageError.mapping("open") { try StepImage(pixels, sampler: sampler) }
    }
}

/// Rendered planes of a lane, for an image that is encoded more than once.
final class PlaneMemo {
    struct Key: Hashable {
        /// The index of the source's plane.
        let index: Int
        /// The columns and rows of the result per sample.
        let every: PixelSize
    }

    /// Planes in full range.
    var planes: [Key: Plane] = [:]
    /// All planes in limited range, which only one format requests, always with the same
    /// parameters.
    var limited: [Plane]?
}

/// The combined effect of steps as one resampling: the area of the stored image, its rotation and
/// mirroring, and the resulting size. Pure.
struct PlanarPlan: Equatable {
    /// The area of the stored image, in fractions of its sides.
    private(set) var part = ActiveRegion.whole
    /// The orientation that displays it.
    private(set) var orientation: Orientation
    /// The displayed size.
    private(set) var size: PixelSize
    /// The area of the stored image that may be sampled, in fractions of its sides: pixels cropped
    /// before scaling must not bleed into the edges.
    private(set) var bounds = ActiveRegion.whole
    /// Whether only luma is left.
    private(set) var isGray = false
    private var isScaled = false

    /// Creates a plan without steps.
    ///
    /// - Parameter size: The displayed size before any reduction.
    init(size: PixelSize, orientation: Orientation) {
        self.size = size
        self.orientation = orientation
    }

    /// Returns the size of a plane with one sample per `step` of the result.
    func size(every step: PixelSize) -> PixelSize {
        PixelSize(
            width: (size.width + step.width - 1) / step.width,
            height: (size.height + step.height - 1) / step.height)
    }

    /// Crops the displayed image to a rectangle, which must lie within it.
    mutating func crop(_ rect: PixelRect) {
        let (width, height) = (Double(size.width), Double(size.height))
        let taken = ActiveRegion(
            left: Double(rect.x) / width, top: Double(rect.y) / height,
            width: Double(rect.size.width) / width, height: Double(rect.size.height) / height)
        part = part.part(taken.stored(orientation))
        if !isScaled { bounds = part }
        size = rect.size
    }

    /// Scales; returns false if it was scaled before, because two resamplings can't be combined.
    mutating func scale(to target: PixelSize) -> Bool {
        guard target != size else { return true }
        guard !isScaled else { return false }
        isScaled = true
        size = target
        return true
    }

    /// Drops chroma.
    mutating func dropColors() { isGray = true }

    /// Mirrors the displayed image.
    mutating func flip(horizontally: Bool, vertically: Bool) {
        orientation = orientation.flipped(horizontally: horizontally, vertically: vertically)
    }

    /// Rotates the displayed image clockwise.
    mutating func turn(quarters: Int) {
        orientation = orientation.turned(quarters: quarters)
        if quarters % 2 == 1 { size = size.transposed }
    }
}

/// The area of an image with content, from its top left corner, in pixels or in fractions of the
/// sides.
struct ActiveRegion: Equatable {
    var left = 0.0
    var top = 0.0
    var width: Double
    var height: Double

    /// The whole image, in fractions of its sides.
    static let whole = ActiveRegion(width: 1, height: 1)

    /// Returns the area that `inner` is of this region, in fractions of its sides.
    func part(_ inner: ActiveRegion) -> ActiveRegion {
        ActiveRegion(
            left: left + inner.left * width, top: top + inner.top * height,
            width: inner.width * width, height: inner.height * height)
    }

    /// Converts an area of the displayed image to one of the stored image, both in fractions.
    func stored(_ orientation: Orientation) -> ActiveRegion {
        let across = orientation.mirrorsHorizontally ? 1 - left - width : left
        let down = orientation.mirrorsVertically ? 1 - top - height : top
        guard orientation.transposes else {
            return ActiveRegion(left: across, top: down, width: width, height: height)
        }
        return ActiveRegion(left: down, top: across, width: height, height: width)
    }
}

/// Samples planes once, as specified by a plan.
struct PlanarRenderer {
    let plan: PlanarPlan
    let sampler: PlaneSampler

    /// Renders a plane as displayed by the plan.
    ///
    /// - Parameters:
    ///   - plane: The stored plane.
    ///   - active: The size of its area with content, in samples.
    ///   - step: The columns and rows of the result per sample. If the last sample stands for
    ///     fewer, it includes content beyond the edge, according to its siting.
    func render(
        _ plane: Plane, active: (width: Double, height: Double), every step: PixelSize
    ) throws -> Plane {
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

    /// Returns all samples that lie at least partly within the region.
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
    /// Creates a region of a whole image, in pixels.
    init(of size: PixelSize) { self.init(width: Double(size.width), height: Double(size.height)) }

    /// The region without rounding errors.
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
