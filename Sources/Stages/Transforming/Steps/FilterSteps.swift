import Glibc
import Model
import Vips

/// Converts to gray: keeps the first of three planes, or computes the same sum from pixels.
extension GrayscaleStep: PixelStep, ImageStep {
    func apply(to current: StepImage) throws -> StepImage {
        guard current.image.header.bands > 2 else { return current }
        return current.recolored(try current.image.mixed([ColorMatrix.light]))
    }

    func fold(into plan: inout PlanarPlan) -> Bool {
        plan.dropColors()
        return true
    }
}

/// The weights of red, green and blue in each output color.
struct ColorMatrix {
    /// The weights of red, green and blue in luma (BT.601), as in the first plane of a JPEG.
    static let light = [0.299, 0.587, 0.114]

    let rows: [[Double]]

    fileprivate func step(_ name: String) -> any ImageStep {
        WholeImage(name: name) { try $0.colored().mixed(rows) }
    }
}

/// Defined as the CSS filter.
extension SepiaStep: PixelStep {
    var imageSteps: [any ImageStep] {
        let rows = [[0.393, 0.769, 0.189], [0.349, 0.686, 0.168], [0.272, 0.534, 0.131]]
        return [ColorMatrix(rows: rows).step(name)]
    }
}

/// Interpolates or extrapolates between the gray image of the same luma and the image.
extension SaturationStep: PixelStep {
    var imageSteps: [any ImageStep] {
        let share = 1 + number / 100
        let rows = (0..<3).map { row in
            (0..<3).map { (1 - share) * ColorMatrix.light[$0] + (row == $0 ? share : 0) }
        }
        return [ColorMatrix(rows: rows).step(name)]
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

    private static func light(_ sample: Double) -> Double {
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
        guard number >= GaussianMask.leastSigma else { return [] }
        return [WholeImage(name: name) { try $0.sharpened(sigma: number) }]
    }
}

extension PixelateStep: PixelStep {
    var imageSteps: [any ImageStep] { [WholeImage(name: name) { try $0.pixelated(side: number) }] }
}
