import CodecSupport
import Testing
import Zimg

@Suite struct AlphaTests {
    /// Fully transparent pixels lose their color; all other colors are restored.
    @Test(arguments: [2, 4])
    func whatIsPremultipliedComesBack(bands: Int) throws {
        let width = 256
        let height = 40
        var pixels = [UInt8](repeating: 0, count: width * height * bands)
        for index in 0..<(width * height) {
            for band in 0..<bands {
                let isAlpha = band == bands - 1
                pixels[index * bands + band] = UInt8(
                    isAlpha ? index % width : index * (band + 3) % 251)
            }
        }
        let found = try roundTrip(pixels, width, height, bands)
        for index in 0..<(width * height) {
            let start = index * bands
            let before = Array(pixels[start..<(start + bands)])
            let after = Array(found[start..<(start + bands)])
            let alpha = before[bands - 1]
            #expect(after == (alpha == 0 ? [UInt8](repeating: 0, count: bands) : before))
        }
    }

    @Test func planesThatAreTooSmallAreRefused() {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 64, alignment: 64)
        defer { memory.deallocate() }
        let planes = [SampleTarget](
            repeating: SampleTarget(memory: memory, stride: 64), count: 4)
        let pixels = [UInt8](repeating: 0, count: 33 * 4)
        let error = #expect(throws: CodecError.self) {
            try pixels.withUnsafeBytes {
                try Interleaving.separate(
                    $0, stride: 132, width: 33, height: 1, into: planes, premultiplied: true)
            }
        }
        #expect(error?.kind == .internal)
    }

    private func roundTrip(
        _ pixels: [UInt8], _ width: Int, _ height: Int, _ bands: Int
    ) throws -> [UInt8] {
        let stride = ZimgPlane.stride(rowBytes: 2 * width)
        let memory = (0..<bands).map { _ in
            UnsafeMutableRawBufferPointer.allocate(byteCount: stride * height, alignment: 64)
        }
        defer { for part in memory { part.deallocate() } }
        try pixels.withUnsafeBytes {
            try Interleaving.separate(
                $0, stride: width * bands, width: width, height: height,
                into: memory.map { SampleTarget(memory: $0, stride: stride) }, premultiplied: true)
        }
        var result = [UInt8](repeating: 0xEE, count: pixels.count)
        try result.withUnsafeMutableBytes { target in
            try Interleaving.join(
                memory.map {
                    SampleSource(memory: UnsafeRawBufferPointer($0), stride: stride)
                }, into: target, stride: width * bands, width: width, height: height,
                premultiplied: true)
        }
        return result
    }
}
