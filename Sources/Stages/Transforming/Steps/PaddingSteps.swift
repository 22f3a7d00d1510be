import Model
import Vips

/// Adds margins to the image.
extension ExtendStep: PixelStep, ImageStep {
    func checkedSize(after source: PixelSize) throws -> PixelSize {
        try size(after: source, orThrow: "the margins exceed their limits")
    }

    func apply(to current: StepImage) throws -> StepImage {
        let settled = try current.settled()
        let target = try checkedSize(after: settled.size)
        guard target != settled.size else { return settled }
        switch fill {
        case .color(let color):
            return try settled.placed(at: (margins.left, margins.top), on: target, of: color)
        case .copy: return try repeated(settled, over: target, by: .copy)
        case .repeat: return try repeated(settled, over: target, by: .repeat)
        case .mirror: return try repeated(settled, over: target, by: .mirror)
        }
    }

    /// Computes the pixels first, because they are read several times.
    private func repeated(
        _ settled: StepImage, over target: PixelSize, by edge: VipsImage.Edge
    ) throws -> StepImage {
        let computed = try settled.computed()
        return computed.replaced(
            by: try computed.image.extended(
                left: margins.left, top: margins.top, width: target.width, height: target.height,
                by: edge))
    }

    /// Planes don't support margins.
    func fold(into plan: inout PlanarPlan) -> Bool { margins == Margins() }
}

/// Places the image on a canvas if that is larger; when centered, the larger half of an odd
/// remainder is at the right and the bottom.
struct Pad: ImageStep {
    var gravity = Gravity.center
    var color = Color.clear
    var name = "resize"
    /// Returns the canvas size for an image, at least as large as the image.
    let canvas: @Sendable (PixelSize) -> PixelSize

    func checkedSize(after source: PixelSize) throws -> PixelSize { canvas(source) }

    func apply(to current: StepImage) throws -> StepImage {
        let settled = try current.settled()
        let size = settled.size
        let target = canvas(size)
        guard target != size else { return settled }
        let place = gravity.origin(of: size, on: target) ?? (0, 0)
        let origin = (
            x: min(max(0, place.x), target.width - size.width),
            y: min(max(0, place.y), target.height - size.height)
        )
        return try settled.placed(at: origin, on: target, of: color)
    }

    /// Planes don't support transparency.
    func fold(into plan: inout PlanarPlan) -> Bool {
        canvas(plan.size) == plan.size
    }
}

extension PixelSize {
    /// Returns a canvas of at least this size and that of the image.
    func atLeast(_ image: PixelSize) -> PixelSize {
        PixelSize(width: max(image.width, width), height: max(image.height, height))
    }
}

extension PadStep: PixelStep {
    var imageSteps: [any ImageStep] {
        [Pad(gravity: gravity, color: color, name: name) { [size] in size.atLeast($0) }]
    }
}

extension PadRatioStep: PixelStep {
    var imageSteps: [any ImageStep] {
        [
            Pad(gravity: gravity, color: color, name: name) { [ratio] in
                ratio.smallest(around: $0)
            }
        ]
    }
}

/// Composites the image over a color.
extension FlattenStep: PixelStep, ImageStep {
    func apply(to current: StepImage) throws -> StepImage {
        guard current.image.header.hasAlpha else { return current }
        return current.recolored(try current.image.flattened(onto: color), isOpaque: true)
    }

    /// Planes don't have transparency, so there is nothing to do.
    func fold(into plan: inout PlanarPlan) -> Bool { true }
}

extension StepImage {
    /// Places this image, which must have its nominal size, on a canvas of one color.
    fileprivate func placed(
        at origin: (x: Int, y: Int), on target: PixelSize, of color: Color
    ) throws -> StepImage {
        let isCovering = color.alpha == UInt8.max
        let image = try image.prepared(for: color, hasAlpha: !isCovering)
        let placed = try image.embedded(
            left: origin.x, top: origin.y, width: target.width, height: target.height,
            background: color.samples(bands: image.header.bands))
        return replaced(by: placed, isOpaque: isOpaque && isCovering)
    }
}

extension Color {
    /// Returns the color in the bands of an image that was prepared for it.
    func samples(bands: Int) -> [Double] {
        let colors = [red, green, blue].prefix(bands < 3 ? 1 : 3)
        return (colors + (bands % 2 == 0 ? [alpha] : [])).map { Double($0) }
    }
}

/// Rotates about the center.
extension RotateStep: PixelStep, ImageStep {
    func checkedSize(after source: PixelSize) throws -> PixelSize {
        try size(after: source, orThrow: "the rotation angle must be finite")
    }

    func apply(to current: StepImage) throws -> StepImage {
        guard let quarters = rotation.quarterTurnsClockwise else { return try turned(current) }
        guard quarters != 0 else { return current }
        if quarters % 2 == 0 || rotation.fitsSize {
            return try current.computed().turned(quarters: quarters)
        }
        // The canvas size stays: protruding parts are cut off, and uncovered ones are transparent.
        let settled = try current.settled()
        let turned = try settled.computed().turned(quarters: quarters)
        let common = PixelSize(
            width: min(settled.size.width, turned.size.width),
            height: min(settled.size.height, turned.size.height))
        let whole = try turned.settled()
        let cut = try whole.cut(whole.size.middle(common))
        return try Pad { [size = settled.size] in size.atLeast($0) }.apply(to: cut)
    }

    /// Rotates by any angle; the rest of the canvas is transparent.
    private func turned(_ current: StepImage) throws -> StepImage {
        let settled = try current.settled()
        let size = try checkedSize(after: settled.size)
        let image = try settled.image.prepared(for: .clear, hasAlpha: true)
        let turned = try settled.replaced(by: image).computed().image.turned(
            radians: rotation.radians, width: size.width, height: size.height)
        return settled.replaced(by: turned, isOpaque: false)
    }

    /// With a fixed canvas, quarter turns leave transparent edges.
    func fold(into plan: inout PlanarPlan) -> Bool {
        guard let quarters = rotation.quarterTurnsClockwise,
            quarters % 2 == 0 || rotation.fitsSize
        else { return false }
        plan.turn(quarters: quarters)
        return true
    }
}

extension FlipStep: PixelStep, ImageStep {
    func apply(to current: StepImage) throws -> StepImage {
        try current.flipped(horizontally: horizontal, vertically: vertical)
    }

    func fold(into plan: inout PlanarPlan) -> Bool {
        plan.flip(horizontally: horizontal, vertically: vertical)
        return true
    }
}
