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

/// Planes of a lane that were rendered, for an image that is encoded more than once.
final class PlaneMemo {
    struct Key: Hashable {
        /// Of the planes of the source.
        let index: Int
        /// Columns and rows of the result for which it has one sample.
        let every: PixelSize
    }

    /// In full range.
    var planes: [Key: Plane] = [:]
    /// Those of all, in limited range, which one format alone asks for, always alike.
    var limited: [Plane]?
}

/// What steps do to an image, as one resampling: the part of the stored image that is taken, how
/// that is turned, and how large it becomes. Pure.
struct PlanarPlan: Equatable {
    /// The part of the stored image, in fractions of its sides.
    private(set) var part = ActiveRegion.whole
    /// What displays it.
    private(set) var orientation: Orientation
    /// The displayed size.
    private(set) var size: PixelSize
    /// The part of the stored image whose pixels may be looked at, in fractions of its sides:
    /// what was cut off before it was scaled does not show at the edges.
    private(set) var bounds = ActiveRegion.whole
    /// Only brightness is left.
    private(set) var isGrey = false
    private var isScaled = false

    /// Nothing done yet.
    ///
    /// - Parameter size: as displayed, before any reduction.
    init(size: PixelSize, orientation: Orientation) {
        self.size = size
        self.orientation = orientation
    }

    /// The size of a plane with one sample for so many columns and rows of the result.
    func size(every step: PixelSize) -> PixelSize {
        PixelSize(
            width: (size.width + step.width - 1) / step.width,
            height: (size.height + step.height - 1) / step.height)
    }

    /// Takes so many pixels of the displayed image; the rectangle lies in it.
    mutating func crop(_ rect: PixelRect) {
        let (width, height) = (Double(size.width), Double(size.height))
        let taken = ActiveRegion(
            left: Double(rect.x) / width, top: Double(rect.y) / height,
            width: Double(rect.size.width) / width, height: Double(rect.size.height) / height)
        part = part.part(taken.stored(orientation))
        if !isScaled { bounds = part }
        size = rect.size
    }

    /// Scales; false where it was scaled before, since two resamplings are not one.
    mutating func scale(to target: PixelSize) -> Bool {
        guard target != size else { return true }
        guard !isScaled else { return false }
        isScaled = true
        size = target
        return true
    }

    /// Leaves brightness.
    mutating func dropColours() { isGrey = true }

    /// Mirrors the displayed image.
    mutating func flip(horizontally: Bool, vertically: Bool) {
        orientation = orientation.flipped(horizontally: horizontally, vertically: vertically)
    }

    /// Turns the displayed image clockwise.
    mutating func turn(quarters: Int) {
        orientation = orientation.turned(quarters: quarters)
        if quarters % 2 == 1 { size = size.transposed }
    }
}

/// The part of an image that is image, from its top left corner: in pixels, or in fractions of
/// the sides.
struct ActiveRegion: Equatable {
    var left = 0.0
    var top = 0.0
    var width: Double
    var height: Double

    /// All of an image, in fractions of its sides.
    static let whole = ActiveRegion(width: 1, height: 1)

    /// The part of this region that `inner` is, in fractions of its sides.
    func part(_ inner: ActiveRegion) -> ActiveRegion {
        ActiveRegion(
            left: left + inner.left * width, top: top + inner.top * height,
            width: inner.width * width, height: inner.height * height)
    }

    /// Where this part of a displayed image is stored, both in fractions.
    func stored(_ orientation: Orientation) -> ActiveRegion {
        let across = orientation.mirrorsHorizontally ? 1 - left - width : left
        let down = orientation.mirrorsVertically ? 1 - top - height : top
        guard orientation.transposes else {
            return ActiveRegion(left: across, top: down, width: width, height: height)
        }
        return ActiveRegion(left: down, top: across, width: height, height: width)
    }
}

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
