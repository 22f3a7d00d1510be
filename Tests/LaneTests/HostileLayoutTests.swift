import CodecSupport
import Model
import StageKit
import Testing
import Transforming

/// The producer of layout and pixels isn't trusted (SEMANTICS §14.1): whatever they are, a job
/// yields an image or a typed error, and reads nothing outside of its bytes.
@Suite struct HostileLayoutTests {
    @Test func layoutsThatFitTheirBytesGiveAnImageOrATypedError() throws {
        var random = RandomSteps(seed: 8)
        var images = 0
        for round in 0..<RandomSteps.rounds(short: 400, long: 20_000) {
            let layout = random.layout()
            let count = try #require(layout.byteCount)
            let memory = try #require(GuardedBytes(count, isAtEnd: round % 2 == 0))
            for index in memory.bytes.indices {
                memory.bytes[index] = UInt8(truncatingIfNeeded: index &* 31 &+ index / 7 &+ round)
            }
            images += try attempt(layout, memory, &random) ? 1 : 0
        }
        #expect(images > 100, "nearly nothing was transformed")
    }

    /// An image that declares extreme dimensions with hardly any samples, of which hardly any are
    /// visible: numbers become as small and as large as possible.
    @Test func extremesEndInAnImageOrATypedError() throws {
        var random = RandomSteps(seed: 10)
        let long = PixelSize(width: 32_767, height: 1)
        for round in 0..<RandomSteps.rounds(short: 60, long: 1000) {
            var layout = random.layout()
            for index in layout.planes.indices {
                let size = PixelSize(width: random.number(1...2), height: random.number(1...2))
                layout.planes[index].size = size
                layout.planes[index].activeWidth = (Double(size.width) - 1).nextUp
                layout.planes[index].activeHeight = Double(size.height) - 1 + 1e-7
            }
            let count = try #require(layout.byteCount)
            let memory = try #require(GuardedBytes(count, isAtEnd: round % 2 == 0))
            let part = PixelSize(width: random.number(1...2), height: random.number(1...2))
            let steps: [TransformStep] =
                [.crop(PixelRect(x: 0, y: 0, size: part))] + random.steps(sideMax: 3000)
            let size = round % 3 == 0 ? long : round % 3 == 1 ? long.transposed : part
            do {
                try perform(layout, steps, size, .jpeg, memory)
            } catch {
                #expect(!error.message.isEmpty)
            }
        }
    }

    @Test func layoutsThatDoNotFitAreRefused() throws {
        var random = RandomSteps(seed: 9)
        let memory = try #require(GuardedBytes(4096, isAtEnd: true))
        for _ in 0..<200 {
            var layout = random.layout()
            let plane = random.number(0...(layout.planes.count - 1))
            switch random.number(0...6) {
            case 0: layout.planes[plane].offset = [-1, 4097, .max, .min][random.number(0...3)]
            case 1: layout.planes[plane].stride = [0, -64, .max, 1 << 40][random.number(0...3)]
            case 2: layout.planes[plane].size.height = [0, -1, .max, 5000][random.number(0...3)]
            case 3:
                layout.planes[plane].activeWidth = [.nan, -1, 0, .infinity][random.number(0...3)]
            case 4:
                layout.planes[plane].activeHeight = [.nan, 1e300, 0, -0.0][random.number(0...3)]
            case 5: layout.planes.append(layout.planes[0])
            default: layout.planes = []
            }
            guard (layout.byteCount ?? .max) > 4096 || !layout.isActive || layout.planes.isEmpty
            else { continue }
            #expect(throws: ImageError.self, "\(layout)") {
                try perform(layout, [], PixelSize(width: 10, height: 10), .jpeg, memory)
            }
        }
    }

    /// Whether the job produced an image.
    private func attempt(
        _ layout: PixelLayout, _ memory: GuardedBytes, _ random: inout RandomSteps
    ) throws -> Bool {
        let steps = random.steps(sideMax: 150)
        let size = PixelSize(width: random.number(1...300), height: random.number(1...300))
        let format = [ImageFormat.jpeg, .png, .webp][random.number(0...2)]
        do {
            try perform(layout, steps, size, format, memory)
            return true
        } catch {
            #expect(
                [.stepFailed, .limitExceeded].contains(error.code), "\(error) \(layout) \(steps)")
            return false
        }
    }

    private func perform(
        _ layout: PixelLayout, _ steps: [TransformStep], _ size: PixelSize, _ format: ImageFormat,
        _ memory: GuardedBytes
    ) throws(ImageError) {
        let space = HeapSpace()
        let work = TransformWork(
            source: BlockReference(segment: 1, offset: 0, length: 1, block: BlockID(1)),
            layout: layout, sourceInfo: ImageInfo(format: .jpeg, size: size), steps: steps,
            output: OutputOptions(format: format), limits: ImageLimits())
        let result = try TransformStage().perform(
            work, pixels: UnsafeRawBufferPointer(memory.bytes), output: space,
            cancellation: CancellationFlag())
        #expect(ImageFormat.sniff(space.bytes(result.reference), tail: []) == format)
    }
}

extension RandomSteps {
    /// Planes of any size and position, possibly overlapping, each within the memory.
    mutating func layout() -> PixelLayout {
        let isPlanar = number(0...2) > 0
        let planes = (0..<(isPlanar ? 3 : 1)).map { _ in
            let bands = isPlanar ? .gray : PixelPlane.Bands.allCases[number(0...3)]
            let size = PixelSize(width: number(1...130), height: number(1...90))
            var stride = size.width * Int(bands.rawValue) + number(0...40)
            if number(0...1) == 0 { stride = (stride + 63) / 64 * 64 }
            let offset = number(0...1) == 0 ? 64 * number(0...40) : number(0...5000)
            return PixelPlane(
                bands: bands, offset: offset, size: size, stride: stride,
                activeWidth: Double(size.width) - Double(number(0...9)) / 10,
                activeHeight: Double(size.height) - Double(number(0...9)) / 10)
        }
        return PixelLayout(planes: planes, orientation: Orientation(exif: number(1...8)))
    }
}
