import ImageModel
import StageContract
import Vips

/// Cuts off what has the colour of the top left corner. An image of which nothing is left stays.
struct Trim: ImageStep {
    let tolerance: Double

    var name: String { "trim" }

    func size(after source: PixelSize) throws(ImageError) -> PixelSize { source }

    func apply(to current: StepImage) throws -> StepImage {
        let settled = try current.settled().computed()
        let header = settled.image.header
        let part = try settled.image.withPixels { pixels throws(VipsError) in
            Border(
                pixels: pixels, size: settled.size, bands: header.bands,
                hasAlpha: header.hasAlpha, tolerance: tolerance,
                cancellation: settled.sampler.cancellation
            ).inside
        }
        return try part.map { try settled.cut($0) } ?? settled
    }

    /// Planes are not looked at.
    func fold(into plan: inout PlanarPlan) -> Bool { false }
}

/// Which pixels are like that of the top left corner.
private struct Border {
    let pixels: UnsafeRawBufferPointer
    let size: PixelSize
    let bands: Int
    let hasAlpha: Bool
    let tolerance: Double
    /// Ends the search at once, with any part.
    let cancellation: CancellationFlag

    /// What is left; `nil` where that is nothing.
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

    /// What is transparent has no colour: samples are compared as far as they are seen.
    private func isLike(_ x: Int, _ y: Int) -> Bool {
        let start = (y * size.width + x) * bands
        return (0..<bands).allSatisfy { band in
            abs(seen(start, band) - seen(0, band)) <= tolerance
        }
    }

    private func seen(_ start: Int, _ band: Int) -> Double {
        let sample = Double(pixels[start + band])
        guard hasAlpha, band < bands - 1 else { return sample }
        return sample * Double(pixels[start + bands - 1]) / 255
    }
}

extension TrimStep: PixelStep {
    var imageSteps: [any ImageStep] { [Trim(tolerance: tolerance)] }
}
