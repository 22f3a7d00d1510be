import Glibc
import ImageModel
import Vips

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
