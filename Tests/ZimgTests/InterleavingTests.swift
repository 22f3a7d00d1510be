import CodecSupport
import Testing
import Zimg

@Suite struct InterleavingTests {
    /// With the loops of each code path, with and without AVX2.
    @Test(arguments: 1...4, [(1, 1), (7, 9), (17, 33), (64, 2), (131, 5)])
    func bandsComeBackFromPlanes(bands: Int, size: (width: Int, height: Int)) throws {
        for path in ZimgCodePath.allCases { try Self.check(path, bands, size) }
    }

    private static func check(
        _ path: ZimgCodePath, _ bands: Int, _ size: (width: Int, height: Int)
    ) throws {
        let (width, height) = size
        let stride = width * bands + 3
        let pixels = (0..<(stride * height)).map { UInt8(truncatingIfNeeded: $0 &* 73 &+ 5) }
        let planes = (0..<bands).map { _ in TestPlane(width, height) }
        try pixels.withUnsafeBytes { pixels in
            try Interleaving.separate(
                pixels, stride: stride, width: width, height: height, into: planes.map(\.target),
                codePath: path)
        }
        for (band, plane) in planes.enumerated() {
            for y in 0..<height {
                for x in 0..<width {
                    #expect(plane[x, y] == Int(pixels[y * stride + x * bands + band]))
                }
                if width < plane.stride {
                    #expect(plane[width, y] == Int(TestPlane.guardByte))
                }
            }
        }
        var back = pixels
        for y in 0..<height {
            for x in 0..<(width * bands) { back[y * stride + x] = 0 }
        }
        try back.withUnsafeMutableBytes { back in
            try Interleaving.join(
                planes.map(\.source), into: back, stride: stride, width: width, height: height,
                codePath: path)
        }
        #expect(back == pixels)
    }

    @Test func whatIsTooSmallIsRefused() {
        let plane = TestPlane(8, 4)
        let pixels = [UInt8](repeating: 0, count: 8 * 4 * 2)
        for (width, height, stride) in [(9, 4, 18), (8, 5, 16), (8, 4, 15), (0, 4, 16)] {
            let error = #expect(throws: CodecError.self) {
                try pixels.withUnsafeBytes { pixels in
                    try Interleaving.separate(
                        pixels, stride: stride, width: width, height: height,
                        into: [plane.target, plane.target])
                }
            }
            #expect(error?.kind == .internal)
        }
    }
}
