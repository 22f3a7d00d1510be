import CodecSupport
import JPEG

/// Planes in memory with guard bytes around the writable area.
final class TestPlane {
    static let guardByte: UInt8 = 0xA5
    static let guardRows = 2
    let width: Int
    let height: Int
    let stride: Int
    private let block: UnsafeMutableRawBufferPointer

    /// `width` × `height` bytes, with `spare` bytes of padding per row.
    init(width: Int, height: Int, spare: Int = 0) {
        (self.width, self.height, stride) = (width, height, width + spare)
        block = .allocate(byteCount: stride * (height + 2 * Self.guardRows), alignment: 64)
        block.initializeMemory(as: UInt8.self, repeating: Self.guardByte)
    }

    deinit {
        block.deallocate()
    }

    var memory: UnsafeMutableRawBufferPointer {
        let start = stride * Self.guardRows
        return .init(rebasing: block[start..<(start + stride * height)])
    }

    var source: SampleSource {
        SampleSource(memory: UnsafeRawBufferPointer(memory), stride: stride)
    }

    var target: SampleTarget { SampleTarget(memory: memory, stride: stride) }

    subscript(x: Int, y: Int) -> Int {
        get { Int(memory[y * stride + x]) }
        set { memory[y * stride + x] = UInt8(clamping: newValue) }
    }

    /// Whether nothing was written outside of the rows.
    var isUntouchedAround: Bool {
        block.indices.allSatisfy { index in
            let y = index / stride - Self.guardRows
            let isInside = (0..<height).contains(y) && index % stride < width
            return isInside || block[index] == Self.guardByte
        }
    }

    /// The maximum and mean difference of two images.
    func difference(
        from other: TestPlane, width: Int, height: Int
    ) -> (largest: Int, mean: Double) {
        var largest = 0
        var sum = 0
        for y in 0..<height {
            for x in 0..<width {
                let distance = abs(self[x, y] - other[x, y])
                largest = max(largest, distance)
                sum += distance
            }
        }
        return (largest, Double(sum) / Double(width * height))
    }
}
