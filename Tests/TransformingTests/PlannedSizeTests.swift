import Model
import StageKit
import TestKit
import Testing

/// The planned size of a job equals the actual result: random sizes and steps.
@Suite struct PlannedSizeTests {
    @Test(arguments: 0..<200)
    func aResultIsAsLargeAsPlanned(number: Int) throws {
        var random = SeededGenerator(seed: UInt64(number))
        let bands: [PixelPlane.Bands] = [.gray, .rgb, .rgba]
        let image = size(&random, 1...160)
        var steps: [TransformStep] = []
        var planned = image
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let step = step(number % 12, of: planned, &random)
            guard let next = step.form.size(after: planned), next.isPositive,
                max(next.width, next.height) <= 600
            else { continue }
            steps.append(step)
            planned = next
        }
        let source = Source.quarters(image.width, image.height, bands[number % 3])
        let result = try transform(source, steps, output: OutputOptions(format: .png))
        #expect(result.size == planned, "\(image), \(steps)")
    }

    private func size(_ random: inout SeededGenerator, _ sides: ClosedRange<Int>) -> PixelSize {
        PixelSize(
            width: Int.random(in: sides, using: &random),
            height: Int.random(in: sides, using: &random))
    }

    private func step(
        _ kind: Int, of image: PixelSize, _ random: inout SeededGenerator
    ) -> TransformStep {
        let box = size(&random, 1...200)
        switch kind {
        case 0: return .resize(box, .stretch)
        case 1: return .resize(box, .letterbox)
        case 2: return .resize(box, .fill)
        case 3: return .resize(box, .fit)
        case 4:
            let x = Int.random(in: -40..<image.width, using: &random)
            return .crop(
                PixelRect(x: x, y: Int.random(in: -40..<image.height, using: &random), size: box))
        case 5:
            let radians = Double.random(in: -7...7, using: &random)
            return .rotate(Rotation(radians: radians, fitsSize: true))
        case 6:
            let quarters = Int.random(in: -4...4, using: &random)
            return .rotate(Rotation(radians: Double(quarters) * .pi / 2, fitsSize: true))
        case 8: return .resize(box, ResizeMode.allCases[Int.random(in: 4...8, using: &random)])
        case 9:
            let part = Double.random(in: 1...300, using: &random)
            return .resizeTo(
                RelativeSize(width: .percent(part), height: .pixels(box.height)),
                ResizeMode.allCases[Int.random(in: 2...8, using: &random)],
                least: PixelSize(width: box.width / 3, height: 0), .point(x: 0.2, y: 1))
        case 10:
            let ratio = AspectRatio(width: box.width, height: box.height)
            return .cropRatio(ratio, .pixel(x: 30, y: 90))
        case 11:
            return .padRatio(AspectRatio(width: box.width, height: box.height), .center, .white)
        default:
            return .scaleDown(bytes: Int.random(in: 4...40_000, using: &random))
        }
    }
}
