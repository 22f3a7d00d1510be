import CodecSupport
import JPEG
import TestKit
import Testing
import Vips

/// A JPEG is decoded by one of two paths; no file may be valid for one and invalid for the other.
@Suite struct AgreementTests {
    static let sources = [
        "images/MonochromeTestImage.jpg", "images/TestHDR.jpeg", "images/TestICCProfile.jpg",
        "images/TestImage.jpg", "images/TestImageLarge.jpg", "images/TestJFIF.jpg",
        "images/webpcoder/TestColorspaceBefore.jpeg", "images/webpcoder/TestImageGrayscale.jpg",
        "photos/photo-2725x2225.jpg", "broken/corrupt-header.jpg", "broken/truncated.jpg",
    ]

    @Test(.enabled(if: Fixtures.folder != nil, "needs IMAGEBUS_FIXTURES"), arguments: sources)
    func fixturesAreAcceptedByBothOrByNone(name: String) throws {
        let bytes = try #require(Fixtures.bytes(name), "\(name) doesn't exist")
        let verdict = try compare(bytes, name, pixelsMax: .max)
        #expect(verdict != "not compared", "\(name)")
    }

    @Test(arguments: [false, true])
    func cutOffFilesAreAcceptedByBothOrByNone(isProgressive: Bool) throws {
        let whole = try Image(90, 70, .yuv420, isProgressive: isProgressive).encoded()
        for count in stride(from: 0, through: whole.count, by: 5) {
            try compare(Array(whole.prefix(count)), "\(count) bytes of \(whole.count)")
        }
        for count in (whole.count - 8)...whole.count {
            try compare(Array(whole.prefix(count)), "\(count) bytes of \(whole.count)")
        }
    }

    @Test(arguments: [false, true])
    func damagedFilesAreAcceptedByBothOrByNone(isProgressive: Bool) throws {
        var random = SeededGenerator(seed: 11)
        let whole = try Image(90, 70, .yuv422, isProgressive: isProgressive).encoded()
        var verdicts: Set<String> = []
        for round in 0..<300 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let place = Int.random(in: 2..<bytes.count, using: &random)
                bytes[place] = UInt8.random(in: 0...255, using: &random)
            }
            verdicts.insert(try compare(bytes, "round \(round)"))
        }
        #expect(verdicts.isSuperset(of: ["accepted", "corrupt"]), "\(verdicts)")
    }

    @Test(.enabled(if: Fixtures.folder != nil, "needs IMAGEBUS_FIXTURES"))
    func samplesOfAGrayFileAreTheSameOnBothWays() throws {
        let bytes = try #require(Fixtures.bytes("images/webpcoder/TestImageGrayscale.jpg"))
        let plane = try decode(bytes)[0]
        let samples = try withVips {
            try bytes.withUnsafeBytes { bytes in
                let image = try VipsImage.jpeg(bytes)
                return (width: image.width, bytes: try image.samples())
            }
        }
        for y in 0..<(samples.bytes.count / samples.width) {
            let row = samples.bytes[(y * samples.width)..<((y + 1) * samples.width)]
            let start = y * plane.stride
            #expect(row.elementsEqual(plane.memory[start..<(start + samples.width)]))
        }
    }

    @discardableResult
    private func compare(
        _ bytes: [UInt8], _ name: String, pixelsMax: Int = 1 << 23
    ) throws -> String {
        // Images that don't decode to planes take the other path from the start, and damage may
        // turn the header into that of a huge image.
        if let header = try? header(bytes) {
            guard header.color != .other, header.width * header.height < pixelsMax else {
                return "not compared"
            }
        }
        let viaPlanes = verdict { _ = try decode(bytes) }
        let viaLibvips = try withVips {
            verdict { try bytes.withUnsafeBytes { _ = try VipsImage.jpeg($0).copiedToMemory() } }
        }
        #expect(viaPlanes == viaLibvips, "\(name)")
        return viaPlanes
    }

    private func verdict(_ body: () throws -> Void) -> String {
        do {
            try body()
            return "accepted"
        } catch let error as CodecError {
            return error.kind == .unsupported ? "unsupported" : "\(error.kind)"
        } catch let error as VipsError {
            return error.kind == .unsupported ? "unsupported" : "\(error.kind)"
        } catch {
            return "\(error)"
        }
    }

    private func withVips<Result>(_ body: () throws -> Result) throws -> Result {
        try VipsLibrary().exclusively(body)
    }
}
