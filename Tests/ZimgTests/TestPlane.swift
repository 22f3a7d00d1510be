import CodecSupport
import Zimg

/// An aligned plane with guard rows around it and guard bytes after each row.
final class TestPlane {
    static let guardByte: UInt8 = 0xA5
    let width: Int
    let height: Int
    let stride: Int
    private let block: UnsafeMutableRawBufferPointer

    init(
        _ width: Int, _ height: Int, spare: Int = 0, _ sample: ((_ x: Int, _ y: Int) -> Int)? = nil
    ) {
        (self.width, self.height) = (width, height)
        stride = ZimgPlane.stride(rowBytes: width) + spare
        block = .allocate(byteCount: stride * (height + 2), alignment: ZimgPlane.alignment)
        block.initializeMemory(as: UInt8.self, repeating: Self.guardByte)
        guard let sample else { return }
        for y in 0..<height {
            for x in 0..<width { self[x, y] = sample(x, y) }
        }
    }

    deinit {
        block.deallocate()
    }

    var memory: UnsafeMutableRawBufferPointer {
        .init(rebasing: block[stride..<(stride * (height + 1))])
    }

    var source: SampleSource {
        SampleSource(memory: UnsafeRawBufferPointer(memory), stride: stride)
    }

    var target: SampleTarget { SampleTarget(memory: memory, stride: stride) }

    subscript(x: Int, y: Int) -> Int {
        get { Int(memory[y * stride + x]) }
        set { memory[y * stride + x] = UInt8(clamping: newValue) }
    }

    var samples: [Int] {
        (0..<height).flatMap { y in (0..<width).map { x in self[x, y] } }
    }

    /// Fills the padding after the rows.
    func setPadding(_ byte: UInt8) {
        for y in 0..<height {
            for x in width..<stride { memory[y * stride + x] = byte }
        }
    }

    /// Whether nothing was written above, below, or further right than the alignment.
    var isUntouchedAround: Bool {
        block.indices.allSatisfy { index in
            let y = index / stride - 1
            let isInside =
                (0..<height).contains(y) && index % stride < ZimgPlane.stride(rowBytes: width)
            return isInside || block[index] == Self.guardByte
        }
    }
}

func never() -> Bool { false }

/// Converts planes into new ones.
func convert(
    _ sources: [TestPlane], _ conversion: ZimgConversion, isCancelled: () -> Bool = never
) throws(CodecError) -> [TestPlane] {
    let graph = try ZimgGraph(conversion)
    let targets = (0..<conversion.target.planeCount).map { index in
        let size = conversion.target.size(ofPlane: index)
        return TestPlane(size.width, size.height, spare: 64)
    }
    try graph.process(
        from: sources.map(\.source), to: targets.map(\.target), isCancelled: isCancelled)
    return targets
}
