import Glibc
import Model
import Vips

/// Rounds corners and draws a border like SDWebImage: the image is clipped to a rectangle inset by
/// the border, which is drawn over it half a pixel further in.
extension RoundStep: PixelStep, ImageStep {
    var imageSteps: [any ImageStep] { radius > 0 || border > 0 ? [self] : [] }

    func checkedSize(after source: PixelSize) throws -> PixelSize {
        try size(
            after: source,
            orThrow: "a border of \(border) pixels covers an image of \(source): it must be less "
                + "than half of the shorter side")
    }

    func apply(to current: StepImage) throws -> StepImage {
        let settled = try current.settled()
        let line = Line(self, settled.size)
        let drawn = line == nil ? nil : color
        let image = try settled.image.prepared(for: drawn ?? .clear, hasAlpha: true)
        let shape = RoundedRect(
            in: settled.size, inset: border, radius: radius, corners: corners)
        let bands = image.header.bands
        return try settled.changingRows(of: image, isOpaque: false) { y, row in
            let whole = shape.wholeColumns(y)
            let untouched = line.map { whole.clamped(to: $0.inner.wholeColumns(y)) } ?? whole
            for x in 0..<settled.size.width where !untouched.contains(x) {
                let alpha = (x + 1) * bands - 1
                let seen = Double(row[alpha]) / 255 * shape.coverage(x, y)
                guard let line, case let over = line.coverage(x, y), over > 0 else {
                    row[alpha] = UInt8((seen * 255).rounded())
                    continue
                }
                let both = over + seen * (1 - over)
                row[alpha] = UInt8((both * 255).rounded())
                for (band, color) in zip((x * bands)..<alpha, line.color) {
                    let sum = color * over + Double(row[band]) * seen * (1 - over)
                    row[band] = UInt8((sum / both).rounded())
                }
            }
        }
    }
}

/// The border, an area between two rectangles.
private struct Line {
    let color: [Double]
    let inner: RoundedRect
    private let opacity: Double
    private let outer: RoundedRect

    /// Returns `nil` if nothing is drawn.
    init?(_ step: RoundStep, _ size: PixelSize) {
        guard let color = step.color, step.border > 0 else { return nil }
        let middle = RoundedRect(
            in: size, inset: step.border.rounded(.down) + 0.5, radius: max(0, step.radius - 0.5),
            corners: step.corners)
        (inner, outer) = (middle.grown(by: -step.border / 2), middle.grown(by: step.border / 2))
        self.color = [color.red, color.green, color.blue].map { Double($0) }
        opacity = Double(color.alpha) / 255
    }

    func coverage(_ x: Int, _ y: Int) -> Double {
        opacity * max(0, outer.coverage(x, y) - inner.coverage(x, y))
    }
}

/// A rectangle with rounded corners and exact pixel coverage.
struct RoundedRect {
    private var left, top, right, bottom: Double
    /// The radii of the corners top left, top right, bottom left and bottom right.
    private var radii: SIMD4<Double>

    /// Creates a rectangle with an inset at each edge; radii are limited to half the shorter side.
    init(in size: PixelSize, inset: Double, radius: Double, corners: Corners) {
        (left, top) = (inset, inset)
        (right, bottom) = (Double(size.width) - inset, Double(size.height) - inset)
        let most = max(0, min(right - left, bottom - top) / 2)
        let radius = min(radius, most)
        radii = SIMD4(
            corners.contains(.topLeft) ? radius : 0, corners.contains(.topRight) ? radius : 0,
            corners.contains(.bottomLeft) ? radius : 0,
            corners.contains(.bottomRight) ? radius : 0)
    }

    /// Returns the rectangle expanded by a distance; sharp corners stay sharp.
    func grown(by distance: Double) -> RoundedRect {
        var grown = self
        grown.left -= distance
        grown.top -= distance
        grown.right += distance
        grown.bottom += distance
        for corner in radii.indices where radii[corner] > 0 {
            grown.radii[corner] = max(0, radii[corner] + distance)
        }
        return grown
    }

    /// Returns the columns of a row that are fully covered; others may be covered partly.
    func wholeColumns(_ y: Int) -> Range<Int> {
        let row = Double(y)
        guard row >= top, row + 1 <= bottom else { return 0..<0 }
        let above = SIMD2(radii[0], radii[1]), below = SIMD2(radii[2], radii[3])
        var margins = SIMD2<Double>.zero
        for side in 0..<2 {
            if row < top + above[side] { margins[side] = above[side] }
            if row + 1 > bottom - below[side] { margins[side] = max(margins[side], below[side]) }
        }
        let start = Int((left + margins[0]).rounded(.up))
        return start..<max(start, Int((right - margins[1]).rounded(.down)))
    }

    /// Returns the coverage of a pixel from 0 to 1.
    func coverage(_ x: Int, _ y: Int) -> Double {
        let (column, row) = (Double(x), Double(y))
        let across = min(right, column + 1) - max(left, column)
        let down = min(bottom, row + 1) - max(top, row)
        guard across > 0, down > 0 else { return 0 }
        var area = across * down
        for corner in radii.indices where radii[corner] > 0 {
            let radius = radii[corner]
            let isLeft = corner % 2 == 0
            let isTop = corner < 2
            // Distances from the center of the circle outwards.
            let near = isLeft ? left + radius - column - 1 : column - (right - radius)
            let high = isTop ? top + radius - row - 1 : row - (bottom - radius)
            area -= Self.missing(near, high, radius)
        }
        return min(max(0, area), 1)
    }

    /// Returns the area of a pixel outside of the quarter circle, at this distance from the center
    /// but within its bounding square.
    private static func missing(_ x: Double, _ y: Double, _ radius: Double) -> Double {
        let columns = (from: min(max(0, x), radius), to: min(max(0, x + 1), radius))
        let rows = (from: min(max(0, y), radius), to: min(max(0, y + 1), radius))
        guard columns.to > columns.from, rows.to > rows.from else { return 0 }
        let inside =
            disc(columns.to, rows.to, radius) - disc(columns.from, rows.to, radius)
            - disc(columns.to, rows.from, radius) + disc(columns.from, rows.from, radius)
        return (columns.to - columns.from) * (rows.to - rows.from) - inside
    }

    /// Returns the area of a disc about the origin between the axes and a point, which must not be
    /// beyond the disc in both directions.
    private static func disc(_ x: Double, _ y: Double, _ radius: Double) -> Double {
        guard x * x + y * y > radius * radius else { return x * y }
        let start = (radius * radius - y * y).squareRoot()
        return start * y + below(x, radius) - below(start, radius)
    }

    /// The integral of the circle's upper half, starting at 0.
    private static func below(_ x: Double, _ radius: Double) -> Double {
        let height = max(0, radius * radius - x * x).squareRoot()
        return (x * height + radius * radius * asin(min(1, x / radius))) / 2
    }
}
