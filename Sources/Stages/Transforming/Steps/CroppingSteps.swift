import Model
import Vips

/// Crops to a rectangle; parts outside of the image are ignored.
extension CropStep: PixelStep, ImageStep {
    func checkedSize(after source: PixelSize) throws -> PixelSize {
        try size(after: source, orThrow: "the rectangle lies outside the image of \(source)")
    }

    func apply(to current: StepImage) throws -> StepImage {
        let settled = try current.settled()
        guard let part = rect.intersection(with: settled.size) else { return settled }
        return try settled.cut(part)
    }

    func fold(into plan: inout PlanarPlan) -> Bool {
        if let part = rect.intersection(with: plan.size) { plan.crop(part) }
        return true
    }
}

/// Crops to a size, at the most important area of the image.
struct CropTo: ImageStep {
    let name: String
    let gravity: Gravity
    /// Returns the target size for an image.
    let target: @Sendable (PixelSize) -> PixelSize

    func checkedSize(after source: PixelSize) throws -> PixelSize { target(source) }

    func apply(to current: StepImage) throws -> StepImage {
        let settled = try current.settled()
        let size = target(settled.size)
        guard let part = gravity.part(size, of: settled.size) else {
            return try settled.cut(size, by: gravity)
        }
        return try settled.cut(part)
    }

    func fold(into plan: inout PlanarPlan) -> Bool {
        guard let part = gravity.part(target(plan.size), of: plan.size) else {
            return false
        }
        plan.crop(part)
        return true
    }
}

extension StepImage {
    /// Crops this image, which must have its nominal size, to the area of that size that is most
    /// important according to its pixels.
    func cut(_ size: PixelSize, by gravity: Gravity) throws -> StepImage {
        guard size != self.size else { return self }
        let computed = try computed()
        return computed.replaced(
            by: try computed.image.smartCropped(
                width: size.width, height: size.height, byEntropy: gravity == .entropy))
    }
}

extension CropToStep: PixelStep {
    var imageSteps: [any ImageStep] {
        [CropTo(name: name, gravity: gravity) { [extent] in extent.resolved(in: $0) }]
    }
}

extension CropRatioStep: PixelStep {
    var imageSteps: [any ImageStep] {
        [CropTo(name: name, gravity: gravity) { [ratio] in ratio.largest(in: $0) }]
    }
}

/// Trims borders of one color, by default that of the top left corner. An image of only that color
/// is left unchanged.
extension TrimStep: PixelStep, ImageStep {
    func apply(to current: StepImage) throws -> StepImage {
        let settled = try current.settled().computed()
        let image = try hasRoom(settled.image)
        let header = image.header
        let part = try image.withPixels { pixels throws(VipsError) in
            Border(
                pixels: pixels, size: settled.size, bands: header.bands,
                hasAlpha: header.hasAlpha, tolerance: tolerance, color: color,
                cancellation: settled.sampler.cancellation
            ).inside
        }
        return try part.map { try settled.cut(balanced($0, in: settled.size)) } ?? settled
    }

    /// Returns an area enlarged so that the margins that must be equal are.
    private func balanced(_ part: PixelRect, in size: PixelSize) -> PixelRect {
        let isAcross = equal == .horizontal || equal == .both
        let isDown = equal == .vertical || equal == .both
        let left = isAcross ? min(part.x, size.width - part.x - part.size.width) : part.x
        let top = isDown ? min(part.y, size.height - part.y - part.size.height) : part.y
        return PixelRect(
            x: left, y: top,
            size: PixelSize(
                width: isAcross ? size.width - 2 * left : part.size.width,
                height: isDown ? size.height - 2 * top : part.size.height))
    }

    /// Returns the image with the bands that the color needs.
    private func hasRoom(_ image: VipsImage) throws -> VipsImage {
        guard let color, !color.isGray || color.alpha < UInt8.max else { return image }
        return try image.prepared(for: color, hasAlpha: color.alpha < UInt8.max).copiedToMemory()
    }
}

/// Finds the border of pixels similar to one color.
private struct Border {
    let pixels: UnsafeRawBufferPointer
    let size: PixelSize
    let bands: Int
    let hasAlpha: Bool
    let tolerance: Double
    /// Ends the search immediately, with an arbitrary result.
    let cancellation: CancellationFlag
    /// The border color, premultiplied, by band.
    private let edge: [Double]

    /// Without a color, uses that of the top left corner.
    init(
        pixels: UnsafeRawBufferPointer, size: PixelSize, bands: Int, hasAlpha: Bool,
        tolerance: Double, color: Color?, cancellation: CancellationFlag
    ) {
        (self.pixels, self.size, self.bands) = (pixels, size, bands)
        (self.hasAlpha, self.tolerance, self.cancellation) = (hasAlpha, tolerance, cancellation)
        let samples =
            color?.samples(bands: bands)
            ?? (0..<bands).map { Double(pixels[$0]) }
        edge = samples.indices.map {
            Self.seen(samples[$0], $0, samples[bands - 1], hasAlpha, bands)
        }
    }

    /// The area inside of the border; `nil` if it is empty.
    var inside: PixelRect? {
        let rows = 0..<size.height
        guard let top = rows.first(where: { !isRow($0) }),
            let bottom = rows.last(where: { !isRow($0) })
        else { return nil }
        let (columns, between) = (0..<size.width, top...bottom)
        guard let left = columns.first(where: { !isColumn($0, between) }),
            let right = columns.last(where: { !isColumn($0, between) })
        else { return nil }
        return PixelRect(
            x: left, y: top, size: PixelSize(width: right - left + 1, height: bottom - top + 1))
    }

    private func isRow(_ y: Int) -> Bool {
        !cancellation.isCancelled && (0..<size.width).allSatisfy { isLike($0, y) }
    }

    private func isColumn(_ x: Int, _ rows: ClosedRange<Int>) -> Bool {
        !cancellation.isCancelled && rows.allSatisfy { isLike(x, $0) }
    }

    /// Compares premultiplied samples, since transparent pixels have no color.
    private func isLike(_ x: Int, _ y: Int) -> Bool {
        let start = (y * size.width + x) * bands
        let alpha = Double(pixels[start + bands - 1])
        return (0..<bands).allSatisfy { band in
            let sample = Self.seen(Double(pixels[start + band]), band, alpha, hasAlpha, bands)
            return abs(sample - edge[band]) <= tolerance
        }
    }

    private static func seen(
        _ sample: Double, _ band: Int, _ alpha: Double, _ hasAlpha: Bool, _ bands: Int
    ) -> Double {
        hasAlpha && band < bands - 1 ? sample * alpha / 255 : sample
    }
}
