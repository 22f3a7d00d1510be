import Model
import Vips

/// Composites an overlay over the image; parts outside of the image are ignored. Gray becomes
/// color. An opaque image stays opaque, unless the blend mode removes something.
struct Composite: ImageStep {
    let overlay: Overlay
    let source: PixelSource

    var name: String { "overlay" }

    func apply(to current: StepImage) throws -> StepImage {
        let base = try current.settled()
        let own = try Self.stepImage(source, sampler: current.sampler)
        let layer = try own.resampled(to: overlay.laidSize(of: own.size, on: base.size))
        let isPlain = overlay.mode == .normal && !overlay.repeats
        return try isPlain ? laid(layer, over: base) : blended(layer, over: base)
    }

    /// Composites the layer once, without blend mode.
    private func laid(_ layer: StepImage, over base: StepImage) throws -> StepImage {
        let origin = overlay.origin(of: layer.size, on: base.size)
        let covered = PixelRect(x: -origin.x, y: -origin.y, size: base.size)
        guard let part = covered.intersection(with: layer.size) else { return base }
        let seen = try layer.image.extracted(
            left: part.x, top: part.y, width: part.size.width, height: part.size.height)
        // Layers are computed in tiles, which need the rows to be computed before.
        let image = try base.computed().image.overlaid(
            by: seen, left: max(0, origin.x), top: max(0, origin.y), opacity: overlay.opacity)
        return base.replaced(by: image)
    }

    /// Blends pixel by pixel.
    private func blended(_ layer: StepImage, over base: StepImage) throws -> StepImage {
        let tiles = try OverlayTiles(
            layer, at: overlay.origin(of: layer.size, on: base.size), on: base.size, overlay)
        let isOpaque = base.isOpaque && overlay.mode.keepsOpaque
        let colored = try base.image.colored()
        let image =
            try isOpaque || colored.header.hasAlpha ? colored : colored.withAlpha()
        let header = image.header
        return try base.changingRows(of: image, isOpaque: isOpaque) { y, row in
            guard tiles.rows.contains(y) else { return }
            for x in tiles.columns {
                let pixel = BlendPixel(row, at: x * header.bands, header)
                overlay.mode.blend(tiles.pixel(x, y), over: pixel)
                    .write(to: row, at: x * header.bands, header)
            }
        }
    }

    /// Returns an overlay of any layout in its displayed form.
    private static func stepImage(_ source: PixelSource, sampler: PlaneSampler) throws -> StepImage
    {
        guard PlanarLane.takes(source.layout) else {
            return try StepImage(source, sampler: sampler).computed()
        }
        let plan = PlanarPlan(size: source.size, orientation: source.layout.orientation)
        return try PlanarLane(source: source, plan: plan, sampler: sampler).stepImage()
    }
}

/// The pixels of an overlay, once or tiled, in the coordinates of the image below.
struct OverlayTiles {
    /// The columns and rows of the image below that it covers.
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

    /// Returns the overlay's pixel for a pixel of the image below.
    func pixel(_ x: Int, _ y: Int) -> BlendPixel {
        let column = Self.place(x - origin.x, pixels.size.width)
        let row = Self.place(y - origin.y, pixels.size.height)
        let start = (row * pixels.size.width + column) * header.bands
        return BlendPixel(pixels.mutableBytes, at: start, header) * opacity
    }

    /// Maps a coordinate to the first tile.
    private static func place(_ distance: Int, _ side: Int) -> Int {
        let rest = distance % side
        return rest < 0 ? rest + side : rest
    }
}

extension BlendMode {
    /// Whether an opaque pixel stays opaque under any overlay.
    var keepsOpaque: Bool {
        let opaque = BlendPixel(repeating: 1)
        return blend(.zero, over: opaque).w == 1 && blend(opaque, over: opaque).w == 1
    }
}

/// Red, green, blue and alpha from 0 to 1, premultiplied.
typealias BlendPixel = SIMD4<Float>

extension BlendPixel {
    init(_ color: Color) {
        self.init(
            straight: SIMD4(
                Float(color.red), Float(color.green), Float(color.blue), Float(color.alpha)))
    }

    /// Reads samples of 1 to 4 bands.
    init(_ samples: UnsafeMutableRawBufferPointer, at start: Int, _ header: VipsHeader) {
        let isGray = header.bands < 3
        let red = Float(samples[start])
        let green = isGray ? red : Float(samples[start + 1])
        let blue = isGray ? red : Float(samples[start + 2])
        let alpha = header.hasAlpha ? Float(samples[start + header.bands - 1]) : 255
        self.init(straight: SIMD4(red, green, blue, alpha))
    }

    /// Converts values from 0 to 255 that aren't premultiplied.
    private init(straight: SIMD4<Float>) {
        let alpha = straight.w / 255
        self = straight / 255 * alpha
        w = alpha
    }

    /// Writes samples; for gray the first color.
    func write(to samples: UnsafeMutableRawBufferPointer, at start: Int, _ header: VipsHeader) {
        let straight = (straight * 255).rounded(.toNearestOrAwayFromZero)
        let colors = header.bands - (header.hasAlpha ? 1 : 0)
        for band in 0..<colors { samples[start + band] = UInt8(straight[band]) }
        if header.hasAlpha {
            samples[start + colors] = UInt8((w * 255).rounded(.toNearestOrAwayFromZero))
        }
    }

    /// The colors without premultiplication and with alpha 1; black if fully transparent.
    fileprivate var straight: SIMD4<Float> {
        guard w > 0 else { return SIMD4(0, 0, 0, 1) }
        return (self / w).clamped(lowerBound: .zero, upperBound: .one)
    }
}

extension BlendMode {
    /// Blends a pixel over another one.
    func blend(_ source: BlendPixel, over base: BlendPixel) -> BlendPixel {
        let (above, below) = (source.w, base.w)
        return switch self {
        case .clear: .zero
        case .copy: source
        case .sourceIn: source * below
        case .sourceOut: source * (1 - below)
        case .sourceAtop: source * below + base * (1 - above)
        case .destinationOver: source * (1 - below) + base
        case .destinationIn: base * above
        case .destinationOut: base * (1 - above)
        case .destinationAtop: source * (1 - below) + base * above
        case .xor: source * (1 - below) + base * (1 - above)
        case .plusLighter: pointwiseMin(source + base, .one)
        case .plusDarker:
            pointwiseMax(.zero, Swift.min(1, above + below) - (below - base) - (above - source))
        default:
            source * (1 - below) + base * (1 - above)
                + mixed(source.straight, base.straight) * (above * below)
        }
    }

    /// Mixes opaque colors with the functions of PDF (ISO 32000-1, 11.3.5).
    private func mixed(_ source: SIMD4<Float>, _ base: SIMD4<Float>) -> SIMD4<Float> {
        var mixed: SIMD4<Float> =
            switch self {
            case .multiply: source * base
            case .screen: Self.screen(source, base)
            case .overlay: Self.hardLight(base, source)
            case .hardLight: Self.hardLight(source, base)
            case .darken: pointwiseMin(source, base)
            case .lighten: pointwiseMax(source, base)
            case .colorDodge: Self.each(source, base, Self.dodge)
            case .colorBurn: 1 - Self.each(source, 1 - base) { Self.dodge(1 - $0, $1) }
            case .softLight: Self.each(source, base, Self.softLight)
            case .difference: pointwiseMax(source, base) - pointwiseMin(source, base)
            case .exclusion: source + base - 2 * source * base
            case .hue: source.with(saturation: base.saturation).with(light: base.light)
            case .saturation: base.with(saturation: source.saturation).with(light: base.light)
            case .color: source.with(light: base.light)
            case .luminosity: base.with(light: source.light)
            default: source
            }
        mixed.w = 1
        return mixed
    }

    private static func each(
        _ source: SIMD4<Float>, _ base: SIMD4<Float>, _ mix: (Float, Float) -> Float
    ) -> SIMD4<Float> {
        SIMD4(mix(source.x, base.x), mix(source.y, base.y), mix(source.z, base.z), 1)
    }

    private static func screen(_ source: SIMD4<Float>, _ base: SIMD4<Float>) -> SIMD4<Float> {
        source + base - source * base
    }

    private static func hardLight(_ source: SIMD4<Float>, _ base: SIMD4<Float>) -> SIMD4<Float> {
        let light = screen(2 * source - 1, base)
        return (2 * source * base).replacing(with: light, where: source .> 0.5)
    }

    private static func dodge(_ source: Float, _ base: Float) -> Float {
        if base <= 0 { return 0 }
        return source >= 1 ? 1 : min(1, base / (1 - source))
    }

    private static func softLight(_ source: Float, _ base: Float) -> Float {
        if source <= 0.5 { return base - (1 - 2 * source) * base * (1 - base) }
        let soft = base <= 0.25 ? ((16 * base - 12) * base + 4) * base : base.squareRoot()
        return base + (2 * source - 1) * (soft - base)
    }
}

/// Luminosity and saturation of an opaque color as in PDF.
extension SIMD4<Float> {
    fileprivate var light: Float { 0.3 * x + 0.59 * y + 0.11 * z }

    private var least: Float { Swift.min(x, y, z) }
    private var most: Float { Swift.max(x, y, z) }

    fileprivate var saturation: Float { most - least }

    /// Returns the color with its components scaled to the range from 0 to `saturation`.
    fileprivate func with(saturation: Float) -> SIMD4<Float> {
        let range = most - least
        return range > 0 ? (self - least) * (saturation / range) : .zero
    }

    /// Returns the color with another luminosity, clipped toward it if a component is out of range.
    fileprivate func with(light: Float) -> SIMD4<Float> {
        var moved = self + (light - self.light)
        let (least, most) = (moved.least, moved.most)
        if least < 0 { moved = light + (moved - light) * (light / (light - least)) }
        if most > 1 { moved = light + (moved - light) * ((1 - light) / (most - light)) }
        return moved
    }
}
