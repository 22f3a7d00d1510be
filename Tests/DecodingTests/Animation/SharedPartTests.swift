import Model
import StageKit
import TestKit
import Testing
import Vips

/// Parts of a file that each frame needs: a large profile is read once per frame.
@Suite struct SharedPartTests {
    /// The pixels of one frame, or of all of them.
    private func decode(_ bytes: [UInt8], frame: Int? = nil) throws -> [UInt8] {
        let space = HeapSpace()
        let image = try perform(bytes, in: space) {
            ($0.frame, $0.wantsAllFrames) = (frame, frame == nil)
        }
        return space.bytes(try #require(image.frames.first).reference)
    }

    /// 70 one-pixel frames with a profile of 4 MiB, which PNG compresses to a few thousand bytes.
    @Test(arguments: ["profile.webp", "profile.apng"])
    func framesTogetherAreRefusedAndEachAloneIsShown(name: String) throws {
        let file = try #require(try AnimatedFile.hostile([name]).first).bytes
        let error = #expect(throws: ImageError.self) { try decode(file) }
        #expect(error?.code == .limitExceeded, "\(String(describing: error))")
        #expect(error?.details["limit"] == "sharedBytesMax")
        for index in [0, 1, 2] {
            #expect(try !decode(file, frame: index).isEmpty)
        }
    }

    /// The first profile is used, as by libwebp; the others aren't even read.
    @Test func framesHaveTheColorsOfTheFirstProfile() throws {
        let red = try Sources.encoded(.webp(quality: 90, lossless: true), 2, 2) { _, _, band in
            band == 0 ? 200 : 0
        }
        // After a header and a profile.
        let pixels = try red[#require(red.place(of: "VP8L"))...]
        func file(_ profiles: [[UInt8]]) -> [UInt8] {
            let head = [UInt8(profiles.isEmpty ? 2 : 0x22), 0, 0, 0, 1, 0, 0, 1, 0, 0]
            let frame =
                [UInt8](repeating: 0, count: 6) + [1, 0, 0, 1, 0, 0, 40, 0, 0, 2] + pixels
            let chunks =
                chunk("VP8X", head) + profiles.flatMap { chunk("ICCP", $0) }
                + chunk("ANIM", [0, 0, 0, 0, 0, 0]) + chunk("ANMF", frame) + chunk("ANMF", frame)
            return Array("RIFF".utf8) + little(4 + chunks.count) + Array("WEBP".utf8) + chunks
        }
        let large = [UInt8](repeating: 0, count: 128 << 20)
        let others = [TestProfile.gray, large]
        let turned = try decode(file([TestProfile.rotatedRGB] + others))
        #expect(turned.count == 2 * 2 * 2 * 4)
        // Its first channel corresponds to the second one of sRGB.
        #expect(turned[1] > 180 && turned[0] < 20 && turned[2] < 20, "\(turned.prefix(4))")
        #expect(Array(turned.prefix(16)) == Array(turned.suffix(16)))
        #expect(try decode(file([])).prefix(4) == [200, 0, 0, 255])
    }

    private func chunk(_ kind: String, _ body: [UInt8]) -> [UInt8] {
        Array(kind.utf8) + little(body.count) + body + (body.count % 2 == 1 ? [0] : [])
    }

    private func little(_ number: Int) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
}
