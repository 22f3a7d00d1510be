import Model
import StageKit
import TestKit
import Testing

@testable import Decoding

/// Frames as jobs of the stage.
@Suite struct FrameWorkTests {
    private let stage: DecodeStage
    private let space = HeapSpace()

    init() throws { stage = try DecodeStage() }

    private func frame(_ index: Int, of bytes: [UInt8]) throws -> [UInt8] {
        let image = try perform(bytes, on: stage, in: space) { $0.frame = index }
        let frame = try #require(image.frames.first)
        #expect(image.frames.count == 1)
        return space.bytes(frame.reference)
    }

    /// The worker keeps the canvas of one picture; two interleaved ones still decode correctly.
    @Test func picturesThatTakeTurnsDisturbNoOther() throws {
        let files = try ["kept.gif", "mixed.webp"].map { try AnimatedFile(generated: $0) }
        for index in [0, 1, 2, 2, 1, 5, 4, 6] {
            for file in files {
                let found = try frame(index, of: file.bytes)
                let wanted = file.frames[index]
                for pixel in stride(from: 0, to: found.count, by: 4) {
                    let isSame = found[pixel..<pixel + 4] == wanted[pixel..<pixel + 4]
                    guard isSame || (found[pixel + 3] == 0 && wanted[pixel + 3] == 0) else {
                        Issue.record("frame \(index) differs at \(pixel)")
                        return
                    }
                }
            }
        }
    }

    @Test func aFrameThatIsNotThereIsSaid() throws {
        let file = try AnimatedFile(generated: "kept.gif")
        let error = #expect(throws: ImageError.self) { try frame(14, of: file.bytes) }
        #expect(error?.code == .stepFailed)
        #expect(error?.message == "frame 14 does not exist: the image has 14, numbered from 0")
        #expect(throws: Never.self) { try frame(13, of: file.bytes) }
    }

    @Test func whatIsCutOffHasTheFramesBeforeIt() throws {
        let file = try AnimatedFile(generated: "mixed.apng")
        let part = Array(file.bytes.prefix(file.bytes.count * 3 / 4))
        #expect(throws: Never.self) { try frame(3, of: part) }
        let error = #expect(throws: ImageError.self) { try frame(23, of: part) }
        #expect(error?.code == .stepFailed)
    }

    /// A canvas of a few pixels with a frame of 4 · 10⁹.
    @Test func aFrameBeyondTheLimitsIsRefusedBeforeItIsDecoded() throws {
        let bytes: [UInt8] =
            Array("GIF89a".utf8) + [2, 0, 2, 0, 0x80, 0, 0] + [255, 0, 0, 0, 0, 255]
            + [0x2C, 0, 0, 0, 0, 2, 0, 2, 0, 0] + [2, 3, 0x44, 0x02, 5, 0]
            + [0x2C, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0] + [2, 2, 0x44, 1, 0] + [0x3B]
        let error = #expect(throws: ImageError.self) { try frame(1, of: bytes) }
        #expect(error?.code == .limitExceeded, "\(String(describing: error))")
    }

    @Test func pagesAreNoFrames() throws {
        let tiff = try ExternalFiles.tiff()
        #expect(throws: Never.self) { try frame(0, of: tiff) }
        #expect(throws: ImageError.self) { try frame(1, of: tiff) }
    }
}
