import ImageModel
import Vips

/// Red, green, blue and alpha from 0 to 1, the colours multiplied by alpha.
typealias BlendPixel = SIMD4<Float>

extension BlendPixel {
    init(_ colour: Colour) {
        self.init(
            straight: SIMD4(
                Float(colour.red), Float(colour.green), Float(colour.blue), Float(colour.alpha)))
    }

    /// Of samples of 1 to 4 bands.
    init(_ samples: UnsafeMutableRawBufferPointer, at start: Int, _ header: VipsHeader) {
        let isGrey = header.bands < 3
        let red = Float(samples[start])
        let green = isGrey ? red : Float(samples[start + 1])
        let blue = isGrey ? red : Float(samples[start + 2])
        let alpha = header.hasAlpha ? Float(samples[start + header.bands - 1]) : 255
        self.init(straight: SIMD4(red, green, blue, alpha))
    }

    /// From 0 to 255, not multiplied.
    private init(straight: SIMD4<Float>) {
        let alpha = straight.w / 255
        self = straight / 255 * alpha
        w = alpha
    }

    /// Of grey the first colour is written.
    func write(
        to samples: UnsafeMutableRawBufferPointer, at start: Int, _ header: VipsHeader
    ) {
        let straight = (straight * 255).rounded(.toNearestOrAwayFromZero)
        let colours = header.bands - (header.hasAlpha ? 1 : 0)
        for band in 0..<colours { samples[start + band] = UInt8(straight[band]) }
        if header.hasAlpha {
            samples[start + colours] = UInt8((w * 255).rounded(.toNearestOrAwayFromZero))
        }
    }

    /// The colours without alpha, which is 1; nothing has no colour.
    fileprivate var straight: SIMD4<Float> {
        guard w > 0 else { return SIMD4(0, 0, 0, 1) }
        return (self / w).clamped(lowerBound: .zero, upperBound: .one)
    }
}

extension BlendMode {
    /// A pixel laid over another one.
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

    /// Of opaque colours: the functions of PDF (ISO 32000-1, 11.3.5).
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

/// Light and saturation of an opaque colour, as PDF has them.
extension SIMD4<Float> {
    fileprivate var light: Float { 0.3 * x + 0.59 * y + 0.11 * z }

    private var least: Float { Swift.min(x, y, z) }
    private var most: Float { Swift.max(x, y, z) }

    fileprivate var saturation: Float { most - least }

    /// The same order of the colours from 0 to `saturation`.
    fileprivate func with(saturation: Float) -> SIMD4<Float> {
        let range = most - least
        return range > 0 ? (self - least) * (saturation / range) : .zero
    }

    /// Moved to that light, and drawn towards it as far as a colour would not be one.
    fileprivate func with(light: Float) -> SIMD4<Float> {
        var moved = self + (light - self.light)
        let (least, most) = (moved.least, moved.most)
        if least < 0 { moved = light + (moved - light) * (light / (light - least)) }
        if most > 1 { moved = light + (moved - light) * ((1 - light) / (most - light)) }
        return moved
    }
}
