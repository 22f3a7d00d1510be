import ImageModel
import Vips

/// The pixels of an image that is laid over another one, once or side by side, where they are on
/// that one.
struct OverlayTiles {
    /// Columns and rows of the image below that it covers.
    let columns: Range<Int>
    let rows: Range<Int>
    private let pixels: InterleavedPixels
    private let header: VipsHeader
    private let origin: (x: Int, y: Int)
    private let opacity: Float

    init(
        _ layer: StepImage, at origin: (x: Int, y: Int), on base: PixelSize, _ overlay: Overlay
    ) throws {
        header = layer.image.header
        pixels = InterleavedPixels(size: layer.size, bands: header.bands)
        try layer.image.write(to: pixels.mutableBytes)
        self.origin = origin
        opacity = Float(overlay.opacity)
        if overlay.repeats {
            (columns, rows) = (0..<base.width, 0..<base.height)
        } else {
            columns = (origin.x..<(origin.x + layer.size.width)).clamped(to: 0..<base.width)
            rows = (origin.y..<(origin.y + layer.size.height)).clamped(to: 0..<base.height)
        }
    }

    /// What lies over a pixel of the image below.
    func pixel(_ x: Int, _ y: Int) -> BlendPixel {
        let column = Self.place(x - origin.x, pixels.size.width)
        let row = Self.place(y - origin.y, pixels.size.height)
        let start = (row * pixels.size.width + column) * header.bands
        return BlendPixel(pixels.mutableBytes, at: start, header) * opacity
    }

    /// Within the first of all tiles.
    private static func place(_ distance: Int, _ side: Int) -> Int {
        let rest = distance % side
        return rest < 0 ? rest + side : rest
    }
}

extension BlendMode {
    /// Whether an opaque pixel stays so, whatever is laid over it.
    var keepsOpaque: Bool {
        let opaque = BlendPixel(repeating: 1)
        return blend(.zero, over: opaque).w == 1 && blend(opaque, over: opaque).w == 1
    }
}
