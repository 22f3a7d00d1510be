import Glibc
import Model

/// Sizes as SDWebImage computes them, in its own arithmetic: `SDImageCoderHelper` and
/// `SDGraphicsImageRenderer` of upstream, written from the description of its behavior and
/// independently of our code.
enum UpstreamSizes {
    /// `scaledSizeWithImageSize:scaleSize:preserveAspectRatio:shouldScaleUp:`
    static func scaled(
        _ image: PixelSize, _ box: PixelSize, preserves: Bool, enlarges: Bool
    ) -> PixelSize {
        let fits = image.width <= box.width && image.height <= box.height
        if fits && !enlarges { return image }
        guard preserves else {
            return enlarges
                ? box
                : PixelSize(
                    width: min(image.width, box.width), height: min(image.height, box.height))
        }
        let (ratio, boxRatio) = (
            Double(image.width) / Double(image.height), Double(box.width) / Double(box.height)
        )
        return ratio > boxRatio
            ? PixelSize(width: box.width, height: Int(ceil(Double(box.width) / ratio)))
            : PixelSize(width: Int(ceil(Double(box.height) * ratio)), height: box.height)
    }

    /// `CGRectIntersection` with the image; nil for an empty one.
    static func cropped(_ rect: PixelRect, _ image: PixelSize) -> PixelRect? {
        let columns = (0..<image.width).clamped(to: rect.x..<(rect.x + rect.size.width))
        let rows = (0..<image.height).clamped(to: rect.y..<(rect.y + rect.size.height))
        guard !columns.isEmpty, !rows.isEmpty else { return nil }
        return PixelRect(
            x: columns.lowerBound, y: rows.lowerBound,
            size: PixelSize(width: columns.count, height: rows.count))
    }

    /// `CGRectApplyAffineTransform`: the bounding box of the four rotated corners.
    static func turned(
        _ image: PixelSize, _ radians: Double
    ) -> (width: Double, height: Double) {
        let corners = [(0, 0), (1, 0), (0, 1), (1, 1)].map { x, y in
            let (x, y) = (Double(x * image.width), Double(y * image.height))
            return (x * cos(radians) - y * sin(radians), x * sin(radians) + y * cos(radians))
        }
        let (xs, ys) = (corners.map(\.0), corners.map(\.1))
        return ((xs.max() ?? 0) - (xs.min() ?? 0), (ys.max() ?? 0) - (ys.min() ?? 0))
    }
}
