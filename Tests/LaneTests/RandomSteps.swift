import Linux
import Model
import TestKit

/// Random steps, reproducible from a seed.
struct RandomSteps {
    /// More rounds with `IMAGEBUS_LONG=1`.
    static func rounds(short: Int, long: Int) -> Int {
        CurrentProcess.environment("IMAGEBUS_LONG") == "1" ? long : short
    }

    var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    mutating func number(_ range: ClosedRange<Int>) -> Int {
        Int.random(in: range, using: &generator)
    }

    /// Up to four valid steps; sides stay below `sideMax`.
    mutating func steps(sideMax: Int) -> [TransformStep] {
        (0..<number(0...4)).map { _ in step(sideMax: sideMax) }
    }

    private mutating func step(sideMax: Int) -> TransformStep {
        switch number(0...3) {
        case 0:
            let box = PixelSize(width: number(1...sideMax), height: number(1...sideMax))
            return .resize(box, ResizeMode.allCases[number(0...8)])
        case 1:
            let size = PixelSize(width: number(1...sideMax), height: number(1...sideMax))
            return .crop(PixelRect(x: number(-9...20), y: number(-9...20), size: size))
        case 2:
            return .rotate(
                Rotation(radians: Double(number(-3...3)) * .pi / 2, fitsSize: number(0...3) > 0))
        default: return .flip(horizontal: number(0...1) == 1, vertical: number(0...1) == 1)
        }
    }
}
