import Glibc
import Model
import Vips

/// Converts to gray: keeps the first of three planes, or computes the same sum from pixels.
extension GrayscaleStep: PixelStep, ImageStep {
    func apply(to current: StepImage) throws -> StepImage {
        guard current.image.header.bands > 2 else { return current }
        return current.recolored(try current.image.mixed([ColorMatrix.luma.terms]))
    }

    func fold(into plan: inout PlanarPlan) -> Bool {
        plan.dropColors()
        return true
    }
}

extension ColorMatrix.Row {
    /// The row for samples from 0 to 255.
    fileprivate var terms: [Double] { [red, green, blue, offset * 255] }
}

extension ColorMatrix {
    fileprivate func step(_ name: String) -> any ImageStep {
        WholeImage(name: name) { try $0.colored().mixed([red.terms, green.terms, blue.terms]) }
    }
}

extension ColorMatrixStep: PixelStep {
    var imageSteps: [any ImageStep] { [matrix.step(name)] }
}

/// Defined as the CSS filter.
extension SepiaStep: PixelStep {
    var imageSteps: [any ImageStep] {
        let matrix = ColorMatrix(
            red: .init(0.393, 0.769, 0.189), green: .init(0.349, 0.686, 0.168),
            blue: .init(0.272, 0.534, 0.131))
        return [matrix.step(name)]
    }
}

/// Interpolates or extrapolates between the gray image of the same luma and the image.
extension SaturationStep: PixelStep {
    var imageSteps: [any ImageStep] {
        let gray = ColorMatrix.duotone(
            dark: Color(argb: 0xFF00_0000), light: .white, intensity: -number / 100)
        return [gray.step(name)]
    }
}

/// In CIELAB, where a saturation is a factor of a* and b*, and a hue an angle between them.
extension ModulateStep: PixelStep {
    var imageSteps: [any ImageStep] {
        let angle = hue * .pi / 180
        let (along, across) = (saturation * cos(angle), saturation * sin(angle))
        let rows = [[lightness, 0, 0, 0], [0, along, -across, 0], [0, across, along, 0]]
        return [WholeImage(name: name) { try $0.colored().mixed(rows, isLab: true) }]
    }
}

/// Keeps L* in CIELAB, and moves a* and b* to those of the color.
extension MonochromeStep: PixelStep {
    var imageSteps: [any ImageStep] {
        let (a, b) = Self.chroma(of: color)
        let rest = 1 - intensity
        let rows = [[1, 0, 0, 0], [0, rest, 0, intensity * a], [0, 0, rest, intensity * b]]
        return [WholeImage(name: name) { try $0.colored().mixed(rows, isLab: true) }]
    }

    /// Returns a* and b* of an sRGB color (IEC 61966-2-1, CIE 15, D65).
    private static func chroma(of color: Color) -> (a: Double, b: Double) {
        let (red, green, blue) = (light(color.red), light(color.green), light(color.blue))
        let x = root((0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.9505)
        let y = root(0.2126 * red + 0.7152 * green + 0.0722 * blue)
        let z = root((0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.0890)
        return (500 * (x - y), 200 * (y - z))
    }

    private static func light(_ sample: UInt8) -> Double {
        InvertStep.light(Double(sample) / 255)
    }

    /// The function f of CIE 15.
    private static func root(_ light: Double) -> Double {
        light > 216 / 24_389 ? cbrt(light) : (24_389 / 27 * light + 16) / 116
    }
}

/// A lookup table for each color sample, independent of the others.
struct ToneCurve {
    let samples: [UInt8]

    /// `tone` maps 0 to 1 to 0 to 1.
    init(_ tone: (Double) -> Double) {
        samples = (0...255).map { sample in
            let value = tone(Double(sample) / 255)
            return UInt8((min(max(0, value), 1) * 255).rounded())
        }
    }

    fileprivate func step(_ name: String) -> any ImageStep {
        WholeImage(name: name) { try $0.mapped(samples) }
    }
}

/// In linear light as in Core Image: white minus the sample's light (IEC 61966-2-1).
extension InvertStep: PixelStep {
    var imageSteps: [any ImageStep] {
        [ToneCurve { Self.sample(1 - Self.light($0)) }.step(name)]
    }

    fileprivate static func light(_ sample: Double) -> Double {
        sample <= 0.04045 ? sample / 12.92 : pow((sample + 0.055) / 1.055, 2.4)
    }

    private static func sample(_ light: Double) -> Double {
        light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
    }
}

extension BrightnessStep: PixelStep {
    var imageSteps: [any ImageStep] { [ToneCurve { $0 + number / 100 }.step(name)] }
}

/// At -100 everything is mid-gray; at 100 only a thousandth of the range lies between dark and
/// light.
extension ContrastStep: PixelStep {
    var imageSteps: [any ImageStep] {
        let slope = (100 + number) / max(0.1, 100 - number)
        let factor = number < 0 ? 1 + number / 100 : slope
        return [ToneCurve { 0.5 + ($0 - 0.5) * factor }.step(name)]
    }
}

extension GammaStep: PixelStep {
    var imageSteps: [any ImageStep] { [ToneCurve { pow($0, 1 / number) }.step(name)] }
}

/// Blends a color over every pixel.
extension TintStep: PixelStep, ImageStep {
    var imageSteps: [any ImageStep] { color.alpha > 0 ? [self] : [] }

    func apply(to current: StepImage) throws -> StepImage {
        let settled = try current.settled()
        let source = BlendPixel(color)
        // Whether an opaque pixel stays opaque, whatever its color.
        let isOpaque = settled.isOpaque && mode.blend(source, over: .init(repeating: 1)).w == 1
        let image = try settled.image.prepared(for: color, hasAlpha: !isOpaque)
        let header = image.header
        return try settled.changingRows(of: image, isOpaque: isOpaque) { _, row in
            for start in stride(from: 0, to: row.count, by: header.bands) {
                let pixel = BlendPixel(row, at: start, header)
                mode.blend(source, over: pixel).write(to: row, at: start, header)
            }
        }
    }
}

/// Darkens by the squared distance from the center, normalized to 1 in the corners.
extension VignetteStep: PixelStep, ImageStep {
    func apply(to current: StepImage) throws -> StepImage {
        let settled = try current.settled()
        let (header, size) = (settled.image.header, settled.size)
        let colors = header.bands - (header.hasAlpha ? 1 : 0)
        return try settled.changingRows(of: settled.image, isOpaque: settled.isOpaque) { y, row in
            let down = Self.distance(y, size.height)
            for x in 0..<size.width {
                let across = Self.distance(x, size.width)
                let light = 1 - number / 100 * (across * across + down * down) / 2
                let start = x * header.bands
                for index in start..<(start + colors) {
                    row[index] = UInt8((Double(row[index]) * light).rounded())
                }
            }
        }
    }

    /// Returns the distance from the center to the middle of a pixel, in half sides.
    private static func distance(_ place: Int, _ side: Int) -> Double {
        (2 * Double(place) + 1) / Double(side) - 1
    }
}

/// A step that keeps the size and processes all pixels of the image in memory.
struct WholeImage: ImageStep {
    let name: String
    let change: (VipsImage) throws -> VipsImage

    func apply(to current: StepImage) throws -> StepImage {
        let settled = try current.settled().computed()
        return settled.replaced(by: try change(settled.image))
    }
}

extension VipsImage {
    /// Returns three color bands, even for gray; an alpha band is kept.
    func colored() throws(VipsError) -> VipsImage {
        try header.bands < 3 ? convertedToSRGB(isDeep: header.bytesPerBand == 2) : self
    }

    /// Returns at least the bands that a color needs, and an alpha band if `hasAlpha`.
    func prepared(for color: Color, hasAlpha: Bool) throws(VipsError) -> VipsImage {
        let image = try color.isGray ? self : colored()
        return try hasAlpha && !image.header.hasAlpha ? image.withAlpha() : image
    }

    /// Composites the image over a color.
    func flattened(onto color: Color) throws(VipsError) -> VipsImage {
        try prepared(for: color, hasAlpha: false).flattened(
            red: Double(color.red), green: Double(color.green), blue: Double(color.blue))
    }
}

/// The weights of a Gaussian blur.
private enum GaussianMask {
    /// The smallest sigma that changes a pixel. libvips drops weights below a hundredth of the
    /// largest (`cvips_blur`), and that of the next pixel is exp(-1 / (2 sigma²)).
    static let leastSigma = 1 / (2 * log(100.0)).squareRoot()
}

extension BlurStep: PixelStep {
    var imageSteps: [any ImageStep] {
        guard number >= GaussianMask.leastSigma else { return [] }
        return [WholeImage(name: name) { try $0.blurred(sigma: number) }]
    }
}

extension SharpenStep: PixelStep {
    var imageSteps: [any ImageStep] {
        guard radius >= GaussianMask.leastSigma else { return [] }
        return [WholeImage(name: name) { try $0.sharpened(sigma: radius, amount: amount) }]
    }
}

extension PixelateStep: PixelStep {
    var imageSteps: [any ImageStep] { [WholeImage(name: name) { try $0.pixelated(side: number) }] }
}
