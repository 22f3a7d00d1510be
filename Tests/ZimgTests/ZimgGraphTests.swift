import CodecSupport
import Testing
import Zimg

@Suite struct ZimgGraphTests {
    static let filters: [ZimgFilter] = [.bilinear, .bicubic(b: 0, c: 0.5), .lanczos3]

    @Test(arguments: filters)
    func aPlaneOfOneValueStaysThatValueInAnySize(filter: ZimgFilter) throws {
        let plane = TestPlane(37, 21) { _, _ in 77 }
        for (width, height) in [(1, 1), (7, 9), (37, 21), (64, 3), (200, 100)] {
            let result = try convert(
                [plane],
                ZimgConversion(
                    from: .init(width: 37, height: 21, planes: .gray),
                    to: .init(width: width, height: height, planes: .gray), filter: filter))
            #expect(result[0].samples.allSatisfy { $0 == 77 })
            #expect(result[0].isUntouchedAround)
        }
    }

    @Test func aRegionShiftsWhatIsSeen() throws {
        let plane = TestPlane(64, 4) { x, _ in x * 4 }
        func column(_ region: ZimgRegion?) throws -> [Int] {
            try convert(
                [plane],
                ZimgConversion(
                    from: .init(width: 64, height: 4, planes: .gray, region: region),
                    to: .init(width: 16, height: 1, planes: .gray), filter: .bilinear))[0].samples
        }
        let whole = try column(nil)
        let shifted = try column(ZimgRegion(left: 4, width: 60, height: 4))
        let cut = try column(ZimgRegion(width: 61.25, height: 4))
        #expect(abs(whole[8] - (8 * 16 + 6)) <= 1)
        #expect(abs(shifted[8] - (16 + 8 * 15 + 6)) <= 1)
        #expect(abs(Double(cut[8]) - (8.5 * 61.25 / 16 - 0.5) * 4) <= 1)
    }

    @Test func whatLiesBehindTheRowsChangesNothing() throws {
        for width in [1, 33, 63, 65, 130] {
            let plane = TestPlane(width, 17) { x, y in (x * 37 + y * 91) % 256 }
            let conversion = ZimgConversion(
                from: .init(width: width, height: 17, planes: .gray),
                to: .init(width: 40, height: 30, planes: .gray))
            plane.setPadding(0)
            let first = try convert([plane], conversion)[0].samples
            plane.setPadding(255)
            #expect(try convert([plane], conversion)[0].samples == first)
        }
    }

    @Test func chromaKeepsItsMiddleInLimitedRange() throws {
        let format = ZimgFormat(width: 4, height: 2, planes: .yCbCr(.yuv444))
        var limited = format
        limited.range = .limited
        let values = [(0, 16, 16), (255, 235, 240), (128, 126, 128)]
        for (full, luma, chroma) in values {
            let planes = (0..<3).map { _ in TestPlane(4, 2) { _, _ in full } }
            let result = try convert(planes, ZimgConversion(from: format, to: limited))
            #expect(result[0].samples.allSatisfy { $0 == luma }, "\(result[0].samples)")
            #expect(result[1].samples.allSatisfy { $0 == chroma }, "\(result[1].samples)")
            #expect(result[2].samples.allSatisfy { $0 == chroma }, "\(result[2].samples)")
        }
    }

    @Test func colorsAreThoseOfJFIF() throws {
        // Y, Cb, Cr by JFIF's formulas, and the corresponding RGB.
        let colors = [
            (76, 85, 255, 254, 0, 0), (150, 44, 21, 0, 255, 1), (29, 255, 107, 0, 0, 254),
            (255, 128, 128, 255, 255, 255), (0, 128, 128, 0, 0, 0),
        ]
        for (y, cb, cr, red, green, blue) in colors {
            let planes = [y, cb, cr].map { value in TestPlane(2, 2) { _, _ in value } }
            let result = try convert(
                planes,
                ZimgConversion(
                    from: .init(width: 2, height: 2, planes: .yCbCr(.yuv444)),
                    to: .init(width: 2, height: 2, planes: .rgb)))
            for (plane, expected) in zip(result, [red, green, blue]) {
                #expect(abs(plane[1, 1] - expected) <= 1, "\(plane.samples), not \(expected)")
            }
        }
    }

    @Test(arguments: [PlaneSubsampling.yuv420, .yuv422, .yuv440, .yuv444])
    func subsampledPlanesBecomeRGBOfAnotherSizeInOnePass(subsampling: PlaneSubsampling) throws {
        let source = ZimgFormat(width: 128, height: 96, planes: .yCbCr(subsampling))
        // A ramp in every plane, in luma coordinates: centered chroma lies on the same ramp.
        let planes = (0..<3).map { index in
            let size = source.size(ofPlane: index)
            let scale = 128 / size.width
            return TestPlane(size.width, size.height) { x, _ in
                index == 0 ? 40 + x : 64 + (2 * x * scale + scale - 1) / 4
            }
        }
        let result = try convert(
            planes,
            ZimgConversion(from: source, to: .init(width: 32, height: 24, planes: .rgb)))
        for x in 3..<29 {
            let luma = 40 + Double(x * 4) + 1.5
            let chroma = 64 + (Double(x * 4) + 1.5) / 2 - 128
            let expected = [
                luma + 1.402 * chroma, luma - (0.344136 + 0.714136) * chroma,
                luma + 1.772 * chroma,
            ]
            for (plane, value) in zip(result, expected) {
                #expect(abs(Double(plane[x, 12]) - min(max(value, 0), 255)) <= 2, "column \(x)")
            }
        }
        #expect(result.allSatisfy { $0.isUntouchedAround })
    }

    @Test func anOddImageIsMadeWithOneColumnAndRowMore() throws {
        // 33 × 17 to 15 × 9 in 4:2:0: declared as 34 × 18 to 16 × 10, with the region enlarged
        // accordingly.
        let region = ZimgRegion(width: 33.0 * 16 / 15, height: 17.0 * 10 / 9)
        let source = ZimgFormat(
            width: 34, height: 18, planes: .yCbCr(.yuv420), region: region)
        let planes = (0..<3).map { index in
            let size = source.size(ofPlane: index)
            return TestPlane(size.width, size.height) { x, _ in
                index == 0 ? 4 * x : 8 * x + 2
            }
        }
        let result = try convert(
            planes,
            ZimgConversion(
                from: source, to: .init(width: 16, height: 10, planes: .yCbCr(.yuv420)),
                filter: .bilinear))
        for x in 1..<14 {
            let expected = ((Double(x) + 0.5) * 33 / 15 - 0.5) * 4
            #expect(abs(Double(result[0][x, 5]) - expected) <= 2)
        }
        for x in 1..<7 {
            let expected = ((Double(x) + 0.5) * 2 * 33 / 15 - 0.5) * 4
            #expect(abs(Double(result[1][x, 2]) - expected) <= 2)
        }
    }

    @Test func sitingOfTheTargetMovesChromaOnly() throws {
        let planes = (0..<3).map { _ in TestPlane(64, 4) { x, _ in x * 4 } }
        func chroma(_ siting: ChromaSiting) throws -> [TestPlane] {
            try convert(
                planes,
                ZimgConversion(
                    from: .init(width: 64, height: 4, planes: .yCbCr(.yuv444)),
                    to: .init(width: 64, height: 4, planes: .yCbCr(.yuv420, siting: siting)),
                    filter: .bilinear))
        }
        let center = try chroma(.center)
        let left = try chroma(.left)
        #expect(center[0].samples == left[0].samples)
        #expect(abs(center[1][10, 1] - left[1][10, 1] - 2) <= 1)
    }

    @Test func aConversionCanBeCancelledOnEveryRow() throws {
        let plane = TestPlane(300, 200) { x, y in x ^ y }
        let conversion = ZimgConversion(
            from: .init(width: 300, height: 200, planes: .gray),
            to: .init(width: 100, height: 60, planes: .gray))
        for call in [1, 2, 90] {
            var calls = 0
            let error = #expect(throws: CodecError.self) {
                try convert([plane], conversion) {
                    calls += 1
                    return calls == call
                }
            }
            #expect(error?.kind == .cancelled)
            #expect(calls == call)
        }
        var calls = 0
        let result = try convert([plane], conversion) {
            calls += 1
            return false
        }
        #expect(calls >= 200)
        #expect(try convert([plane], conversion)[0].samples == result[0].samples)
    }
}
