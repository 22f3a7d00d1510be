import Glibc
import Model

/// Blending of straight-alpha pixels from 0 to 255, sample by sample, as defined by W3C's
/// Compositing and Blending; arguments in the order source, backdrop.
enum Blending {
    static func result(
        _ mode: BlendMode, _ source: [Double], over backdrop: [Double]
    ) -> [Double] {
        let (cs, cb) = (source.prefix(3).map { $0 / 255 }, backdrop.prefix(3).map { $0 / 255 })
        let (alphaS, alphaB) = (source[3] / 255, backdrop[3] / 255)
        var (seen, alpha) = ([0.0, 0, 0], 0.0)
        if let (fa, fb) = parts(mode, alphaS, alphaB) {
            alpha = alphaS * fa + alphaB * fb
            seen = (0..<3).map { alphaS * fa * cs[$0] + alphaB * fb * cb[$0] }
        } else {
            alpha = alphaS + alphaB * (1 - alphaS)
            let mixed = function(mode, cs, cb)
            seen = (0..<3).map { band in
                let above = (1 - alphaB) * cs[band] + alphaB * mixed[band]
                return alphaS * above + (1 - alphaS) * alphaB * cb[band]
            }
        }
        if mode == .plusDarker {
            alpha = min(1, alphaS + alphaB)
            // The distances to white of both are added.
            seen = (0..<3).map {
                max(0, alpha - alphaS * (1 - cs[$0]) - alphaB * (1 - cb[$0]))
            }
        }
        alpha = min(1, alpha)
        return seen.map { alpha > 0 ? min(1, $0) / alpha * 255 : 0 } + [alpha * 255]
    }

    /// Porter and Duff's factors of source and backdrop; `nil` for blend modes.
    private static func parts(
        _ mode: BlendMode, _ source: Double, _ backdrop: Double
    ) -> (Double, Double)? {
        switch mode {
        case .clear: (0, 0)
        case .copy: (1, 0)
        case .destinationOver: (1 - backdrop, 1)
        case .sourceIn: (backdrop, 0)
        case .destinationIn: (0, source)
        case .sourceOut: (1 - backdrop, 0)
        case .destinationOut: (0, 1 - source)
        case .sourceAtop: (backdrop, 1 - source)
        case .destinationAtop: (1 - backdrop, source)
        case .xor: (1 - backdrop, 1 - source)
        case .plusLighter, .plusDarker: (1, 1)
        default: nil
        }
    }

    private static func function(
        _ mode: BlendMode, _ cs: [Double], _ cb: [Double]
    ) -> [Double] {
        switch mode {
        case .hue: setLum(setSat(cs, sat(cb)), lum(cb))
        case .saturation: setLum(setSat(cb, sat(cs)), lum(cb))
        case .color: setLum(cs, lum(cb))
        case .luminosity: setLum(cb, lum(cs))
        default: zip(cs, cb).map { separable(mode, $0, $1) }
        }
    }

    private static func separable(_ mode: BlendMode, _ cs: Double, _ cb: Double) -> Double {
        switch mode {
        case .multiply: return cs * cb
        case .screen: return 1 - (1 - cs) * (1 - cb)
        case .overlay: return separable(.hardLight, cb, cs)
        case .darken: return min(cs, cb)
        case .lighten: return max(cs, cb)
        case .colorDodge: return cb == 0 ? 0 : cs == 1 ? 1 : min(1, cb / (1 - cs))
        case .colorBurn: return cb == 1 ? 1 : cs == 0 ? 0 : 1 - min(1, (1 - cb) / cs)
        case .hardLight: return cs <= 0.5 ? cb * 2 * cs : separable(.screen, 2 * cs - 1, cb)
        case .softLight:
            let depth = cb <= 0.25 ? ((16 * cb - 12) * cb + 4) * cb : sqrt(cb)
            return cs <= 0.5
                ? cb - (1 - 2 * cs) * cb * (1 - cb) : cb + (2 * cs - 1) * (depth - cb)
        case .difference: return abs(cs - cb)
        case .exclusion: return cs + cb - 2 * cs * cb
        default: return cs
        }
    }

    private static func lum(_ color: [Double]) -> Double {
        0.3 * color[0] + 0.59 * color[1] + 0.11 * color[2]
    }

    private static func sat(_ color: [Double]) -> Double {
        (color.max() ?? 0) - (color.min() ?? 0)
    }

    private static func setLum(_ color: [Double], _ light: Double) -> [Double] {
        let distance = light - lum(color)
        var clipped = color.map { $0 + distance }
        let (least, most) = (clipped.min() ?? 0, clipped.max() ?? 0)
        if least < 0 { clipped = clipped.map { light + ($0 - light) * light / (light - least) } }
        if most > 1 {
            clipped = clipped.map { light + ($0 - light) * (1 - light) / (most - light) }
        }
        return clipped
    }

    /// In the order of the three values, as in the definition.
    private static func setSat(_ color: [Double], _ saturation: Double) -> [Double] {
        let order = [0, 1, 2].sorted { color[$0] < color[$1] }
        var result = [0.0, 0, 0]
        let (low, middle, high) = (order[0], order[1], order[2])
        if color[high] > color[low] {
            let range = color[high] - color[low]
            result[middle] = (color[middle] - color[low]) * saturation / range
            result[high] = saturation
        }
        return result
    }
}
