import CodecSupport
import JPEG
import Testing

@Suite struct RoundTripTests {
    static let subsamplings: [PlaneSubsampling] = [
        .gray, .yuv444, .yuv422, .yuv440, .yuv420,
    ]
    static let sizes = [(1, 1), (7, 9), (8, 8), (17, 33), (64, 48), (129, 65)]

    @Test(arguments: subsamplings, sizes)
    func planesComeBackAsTheyWentIn(
        subsampling: PlaneSubsampling, size: (width: Int, height: Int)
    ) throws {
        for isProgressive in [false, true] {
            for spare in [0, 5] {
                let image = Image(
                    size.width, size.height, subsampling, isProgressive: isProgressive,
                    spare: spare)
                let bytes = try image.encoded()
                let planes = try decode(bytes, spare: spare)
                #expect(planes.count == image.planes.count)
                for (index, (before, after)) in zip(image.planes, planes).enumerated() {
                    let difference = before.difference(
                        from: after, width: before.width, height: before.height)
                    #expect(difference.largest <= 8, "plane \(index): \(difference)")
                    #expect(difference.mean <= 2, "plane \(index): \(difference)")
                    #expect(after.isUntouchedAround, "plane \(index)")
                }
            }
        }
    }

    @Test func aReducedDecodeKeepsTheExactFractionsOfTheImage() throws {
        let bytes = try Image(273, 221, .yuv420).encoded()
        let planes = try layout(bytes, reduction: 4)
        #expect(planes.map(\.width) == [69, 69, 69])
        #expect(planes.map(\.height) == [56, 56, 56])
        #expect(planes.map(\.activeWidth) == [68.25, 68.25, 68.25])
        #expect(planes.map(\.activeHeight) == [55.25, 55.25, 55.25])
        #expect(planes.map(\.paddedWidth) == [70, 72, 72])
    }

    @Test func chromaKeepsItsSizeWhereNothingIsReduced() throws {
        let planes = try layout(try Image(17, 33, .yuv420).encoded())
        #expect(planes.map(\.width) == [17, 9, 9])
        #expect(planes.map(\.height) == [33, 17, 17])
        #expect(planes.map(\.activeWidth) == [17, 8.5, 8.5])
        #expect(planes.map(\.paddedWidth) == [24, 16, 16])
        #expect(planes.map(\.paddedHeight) == [40, 24, 24])
    }

    @Test(arguments: subsamplings, [2, 4, 8])
    func aReducedDecodeIsTheAverageOfItsSamples(
        subsampling: PlaneSubsampling, reduction: Int
    ) throws {
        for (width, height) in Self.sizes {
            let image = Image(width, height, subsampling)
            let planes = try decode(image.encoded(), reduction: reduction, spare: 3)
            #expect(planes.allSatisfy { $0.isUntouchedAround })
            guard width >= 64 else { continue }
            let after = planes[0]
            let before = image.planes[0]
            for y in 0..<(height / reduction) {
                for x in 0..<(width / reduction) {
                    let near = before[x * reduction + reduction / 2, y * reduction + reduction / 2]
                    #expect(abs(after[x, y] - near) <= 10)
                }
            }
        }
    }

    @Test func theHeaderSaysWhatTheEncodingWas() throws {
        let bytes = try Image(40, 30, .yuv422, isProgressive: true).encoded()
        let progressive = try header(bytes)
        #expect(progressive.width == 40)
        #expect(progressive.height == 30)
        #expect(progressive.color == .yCbCr)
        // A progressive frame with Huffman coding of 8 bits and these sampling factors, without a
        // profile.
        let frame: [UInt8] = [0xFF, 0xC2, 0, 17, 8, 0, 30, 0, 40, 3]
        let start = try #require(bytes.indices.first { bytes[$0...].starts(with: frame) })
        #expect((0..<3).map { bytes[start + 11 + 3 * $0] } == [0x21, 0x11, 0x11])
        #expect(!bytes[..<start].contains(0xE2))
        // 6 × 4 blocks of luma, twice 3 × 4 of chroma; 64 coefficients of 2 bytes.
        #expect(progressive.coefficientBytes == 48 * 128)
        let gray = try header(try Image(9, 9, .gray).encoded())
        #expect(gray.color == .gray)
        #expect(gray.coefficientBytes == 0)
    }

    @Test func bytesAreTheSameInPiecesOfAnySize() throws {
        let image = Image(200, 120, .yuv420)
        let whole = try image.encoded()
        for piece in [1, 7, 100, 4096] {
            #expect(try image.encoded(piece: piece) == whole)
        }
    }

    @Test(arguments: [
        (PlaneSubsampling.gray, 1, [40.0]), (.yuv444, 1, [40, 40, 40, 40]),
        (.yuv422, 1, [40, 20, 40, 40]), (.yuv422, 8, [5, 2.5, 5, 5]),
        (.yuv440, 1, [40, 40, 40, 20]), (.yuv420, 1, [40, 20, 40, 20]),
        (.yuv420, 2, [20, 20, 20, 20]),
    ])
    func chromaIsToldAsItComesNotAsTheFileHasIt(
        subsampling: PlaneSubsampling, reduction: Int, sides: [Double]
    ) throws {
        let planes = try layout(Image(40, 40, subsampling).encoded(), reduction: reduction)
        guard planes.count > 1 else {
            #expect(planes.map(\.activeWidth) == sides)
            return
        }
        for chroma in planes[1...] {
            let luma = planes[0]
            let found = [
                luma.activeWidth, chroma.activeWidth, luma.activeHeight, chroma.activeHeight,
            ]
            #expect(found == sides)
        }
    }

    @Test(arguments: [PlaneSubsampling.yuv422, .yuv440])
    func nothingOfWhatWasInAPlaneBeforeIsLeft(subsampling: PlaneSubsampling) throws {
        // 3 blocks of one sample: the second chroma sample would cover only one luma sample.
        let bytes = try Image(24, 24, subsampling).encoded()
        let planes = try layout(bytes, reduction: 8)
        let isWide = subsampling == .yuv422
        #expect(planes[0].paddedWidth == (isWide ? 4 : 3))
        #expect(planes[0].paddedHeight == (isWide ? 3 : 4))
        let luma = try decode(bytes, reduction: 8, spare: 2)[0]
        #expect(luma.isUntouchedAround)
        for i in 0..<3 {
            #expect(isWide ? luma[3, i] == luma[2, i] : luma[i, 3] == luma[i, 2])
        }
    }
}
