import CodecSupport
import JPEG
import TestKit
import Testing

@Suite struct BadInputTests {
    @Test(arguments: [false, true])
    func aFileThatWasCutOffIsCorrupt(isProgressive: Bool) throws {
        let whole = try Image(97, 61, .yuv420, isProgressive: isProgressive).encoded()
        // Without its last two bytes, the end of image, all pixels of a baseline file are there.
        for count in stride(from: 0, to: whole.count - 16, by: 13) {
            let error = #expect(throws: CodecError.self) { try decode(Array(whole.prefix(count))) }
            #expect(error?.kind == .corrupt, "\(count) bytes: \(String(describing: error))")
            #expect(error?.text.isEmpty == false)
        }
    }

    @Test func bytesThatAreNoJPEGAreCorrupt() {
        for bytes in [[], [0xFF], [0xFF, 0xD8], [UInt8](repeating: 0x41, count: 4096)] {
            let error = #expect(throws: CodecError.self) { try header(bytes) }
            #expect(error?.kind == .corrupt, "\(String(describing: error))")
        }
    }

    @Test func damagedBytesEndInPixelsOrInATypedErrorAndStayInTheirMemory() throws {
        var random = SeededGenerator(seed: 7)
        var refused = 0
        for isProgressive in [false, true] {
            let whole = try Image(65, 49, .yuv420, isProgressive: isProgressive).encoded()
            for _ in 0..<100 {
                var bytes = whole
                for _ in 0..<Int.random(in: 1...8, using: &random) {
                    let place = Int.random(in: 2..<bytes.count, using: &random)
                    bytes[place] = UInt8.random(in: 0...255, using: &random)
                }
                do {
                    guard try header(bytes).width * header(bytes).height < 1 << 22 else { continue }
                    let planes = try decode(bytes, spare: 1)
                    #expect(planes.allSatisfy { $0.isUntouchedAround })
                } catch let error as CodecError {
                    refused += 1
                    #expect([.corrupt, .unsupported].contains(error.kind), "\(error)")
                }
            }
        }
        #expect(refused > 20)
    }

    @Test func samplingFactorsOfAnySortStayInTheirMemory() throws {
        var random = SeededGenerator(seed: 3)
        let whole = try Image(45, 37, .yuv444).encoded()
        let frame = try #require(
            (0..<whole.count).first { whole[$0...].starts(with: [0xFF, 0xC0]) })
        var decoded = 0
        for _ in 0..<200 {
            var bytes = whole
            for component in 0..<3 {
                let factors = (0..<2).map { _ in UInt8.random(in: 1...4, using: &random) }
                bytes[frame + 11 + 3 * component] = factors[0] << 4 | factors[1]
            }
            for reduction in [1, 2, 4, 8] {
                do throws(CodecError) {
                    let planes = try decode(bytes, reduction: reduction, spare: 1)
                    #expect(planes.allSatisfy { $0.isUntouchedAround })
                    decoded += 1
                } catch {
                    #expect([.corrupt, .unsupported].contains(error.kind), "\(error)")
                }
            }
        }
        #expect(decoded > 0)
    }

    @Test func aTargetThatIsTooSmallIsRefusedBeforeAnythingIsWritten() throws {
        let bytes = try Image(17, 9, .gray).encoded()
        try bytes.withUnsafeBytes { bytes in
            for (width, height) in [(23, 16), (24, 15)] {
                let plane = TestPlane(width: width, height: height)
                let decoder = try JPEGPlaneDecoder(bytes)
                #expect(decoder.planes[0].paddedWidth == 24)
                #expect(decoder.planes[0].paddedHeight == 16)
                do throws(CodecError) {
                    try decoder.decode(into: [plane.target]) { false }
                    Issue.record("decoded into \(width) × \(height)")
                } catch {
                    #expect(error.kind == .internal)
                }
                #expect(plane[0, 0] == Int(TestPlane.guardByte))
            }
        }
    }

    @Test func aSourceThatIsTooSmallIsRefused() throws {
        let image = Image(16, 16, .yuv420)
        let small = JPEGEncoding(width: 17, height: 16, subsampling: .yuv420, quality: 80)
        let error = #expect(throws: CodecError.self) {
            try JPEGPlaneEncoder.encode(image.planes.map(\.source), as: small) { _ in
                nil
            } isCancelled: {
                false
            }
        }
        #expect(error?.kind == .internal)
    }

    @Test func colorsWithoutPlanesAreUnsupported() throws {
        var bytes = try Image(16, 16, .yuv444).encoded()
        // An Adobe marker with transform 0 means that the components are R, G and B.
        let adobe: [UInt8] =
            [0xFF, 0xEE, 0, 14] + Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, 0]
        bytes.replaceSubrange(2..<20, with: adobe)
        #expect(try header(bytes).color == .other)
        let error = #expect(throws: CodecError.self) { try decode(bytes) }
        #expect(error?.kind == .unsupported)
    }

    @Test func moreScansThanPermittedAreUnsupported() throws {
        let bytes = try Image(32, 32, .yuv420, isProgressive: true).encoded()
        let error = #expect(throws: CodecError.self) {
            try decode(bytes, scansMax: 3)
        }
        #expect(error?.kind == .unsupported)
        #expect(error?.text.contains("scans") == true)
        _ = try decode(bytes, scansMax: 20)
    }

    @Test func coefficientsBeyondTheLimitAreNotHeld() throws {
        let bytes = try Image(512, 512, .yuv444, isProgressive: true).encoded()
        let need = try header(bytes).coefficientBytes
        #expect(need == 3 * 512 * 512 * 2)
        let error = #expect(throws: CodecError.self) {
            try decode(bytes, coefficientBytesMax: need / 2)
        }
        #expect(error?.kind == .outOfMemory)
        _ = try decode(bytes, coefficientBytesMax: 2 * need)
    }
}
