import Glibc
import ImageModel
import Vips

/// Leaves brightness: the first plane of three, of pixels the same sum.
struct Grayscale: ImageStep {
    var name: String { "grayscale" }

    func size(after source: PixelSize) throws(ImageError) -> PixelSize { source }

    func apply(to current: StepImage) throws -> StepImage {
        guard current.image.header.bands > 2 else { return current }
        return current.recoloured(try current.image.mixed([ColourMatrix.light]))
    }

    func fold(into plan: inout PlanarPlan) -> Bool {
        plan.dropColours()
        return true
    }
}

extension StepImage {
    /// The same geometry in other colours.
    func recoloured(_ image: VipsImage, isOpaque: Bool? = nil) -> StepImage {
        StepImage(
            image, size: size, active: active, isOpaque: isOpaque ?? self.isOpaque,
            sampler: sampler)
    }
}

extension GrayscaleStep: PixelStep {
    var imageSteps: [any ImageStep] { [Grayscale()] }
}

/// What of red, green and blue each colour becomes.
struct ColourMatrix {
    /// Of red, green and blue in brightness (BT.601), as in the first plane of a JPEG.
    static let light = [0.299, 0.587, 0.114]

    let rows: [[Double]]

    fileprivate func step(_ name: String) -> any ImageStep {
        WholeImage(name: name) { try $0.coloured().mixed(rows) }
    }
}

/// As the CSS filter has it.
extension SepiaStep: PixelStep {
    var imageSteps: [any ImageStep] {
        let rows = [[0.393, 0.769, 0.189], [0.349, 0.686, 0.168], [0.272, 0.534, 0.131]]
        return [ColourMatrix(rows: rows).step(name)]
    }
}

/// Between grey of the same brightness and the image, or beyond it.
extension SaturationStep: PixelStep {
    var imageSteps: [any ImageStep] {
        let share = 1 + number / 100
        let rows = (0..<3).map { row in
            (0..<3).map { (1 - share) * ColourMatrix.light[$0] + (row == $0 ? share : 0) }
        }
        return [ColourMatrix(rows: rows).step(name)]
    }
}

/// What each sample of a colour becomes, whatever is beside it.
struct ToneCurve {
    let samples: [UInt8]

    /// From and to the range of 0 to 1.
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

/// Of light, as Core Image has it: white less what the sample stands for (IEC 61966-2-1).
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

/// At -100 all is the middle; at 100 nothing is between dark and light but a thousandth.
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

/// Lays a colour over every pixel.
struct Tint: ImageStep {
    let colour: Colour
    let mode: BlendMode

    var name: String { "tint" }

    func size(after source: PixelSize) throws(ImageError) -> PixelSize { source }

    func apply(to current: StepImage) throws -> StepImage {
        let settled = try current.settled()
        let source = BlendPixel(colour)
        // Of an opaque pixel, whatever its colour.
        let isOpaque = settled.isOpaque && mode.blend(source, over: .init(repeating: 1)).w == 1
        let coloured = try colour.isGrey ? settled.image : settled.image.coloured()
        let image =
            try isOpaque || coloured.header.hasAlpha ? coloured : coloured.withAlpha()
        let header = image.header
        return try settled.changingRows(of: image, isOpaque: isOpaque) { _, row in
            for start in stride(from: 0, to: row.count, by: header.bands) {
                let pixel = BlendPixel(row, at: start, header)
                mode.blend(source, over: pixel).write(to: row, at: start, header)
            }
        }
    }

    /// Planes have no transparency, and their colours stand for several pixels.
    func fold(into plan: inout PlanarPlan) -> Bool { false }
}

extension TintStep: PixelStep {
    var imageSteps: [any ImageStep] {
        colour.alpha > 0 ? [Tint(colour: colour, mode: mode)] : []
    }
}

/// Darkens by the square of the distance from the centre, of which the corners have all.
struct Vignette: ImageStep {
    let amount: Double

    var name: String { "vignette" }

    func size(after source: PixelSize) throws(ImageError) -> PixelSize { source }

    func apply(to current: StepImage) throws -> StepImage {
        let settled = try current.settled()
        let (header, size) = (settled.image.header, settled.size)
        let colours = header.bands - (header.hasAlpha ? 1 : 0)
        return try settled.changingRows(of: settled.image, isOpaque: settled.isOpaque) { y, row in
            let down = Self.distance(y, size.height)
            for x in 0..<size.width {
                let across = Self.distance(x, size.width)
                let light = 1 - amount / 100 * (across * across + down * down) / 2
                let start = x * header.bands
                for index in start..<(start + colours) {
                    row[index] = UInt8((Double(row[index]) * light).rounded())
                }
            }
        }
    }

    /// From the centre to the middle of a pixel, in halves of the side.
    private static func distance(_ place: Int, _ side: Int) -> Double {
        (2 * Double(place) + 1) / Double(side) - 1
    }

    /// Colours of planes stand for several pixels.
    func fold(into plan: inout PlanarPlan) -> Bool { false }
}

extension VignetteStep: PixelStep {
    var imageSteps: [any ImageStep] { [Vignette(amount: number)] }
}

/// A step that leaves the size and sees every pixel of the image, in memory.
struct WholeImage: ImageStep {
    let name: String
    let change: (VipsImage) throws -> VipsImage

    func size(after source: PixelSize) throws(ImageError) -> PixelSize { source }

    func apply(to current: StepImage) throws -> StepImage {
        let settled = try current.settled().computed()
        return settled.replaced(by: try change(settled.image))
    }

    /// Planes are not looked at.
    func fold(into plan: inout PlanarPlan) -> Bool { false }
}

extension VipsImage {
    /// Three colours, of grey as well; an alpha band stays.
    func coloured() throws(VipsError) -> VipsImage {
        try header.bands < 3 ? convertedToSRGB(isDeep: header.bytesPerBand == 2) : self
    }
}

extension BlurStep: PixelStep {
    var imageSteps: [any ImageStep] {
        guard number > 0 else { return [] }
        return [WholeImage(name: name) { try $0.blurred(sigma: max(2, number)) }]
    }
}

extension SharpenStep: PixelStep {
    var imageSteps: [any ImageStep] {
        [WholeImage(name: name) { try $0.sharpened(sigma: number) }]
    }
}

extension PixelateStep: PixelStep {
    var imageSteps: [any ImageStep] { [WholeImage(name: name) { try $0.pixelated(side: number) }] }
}
