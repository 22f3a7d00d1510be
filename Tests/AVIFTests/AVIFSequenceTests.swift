import AVIF
import CodecSupport
import TestKit
import Testing

/// Decoding of sequences frame by frame.
@Suite struct AVIFSequenceTests {
    /// The number of frames decoded for each requested frame.
    private func frames(begunFor order: [Int], of name: String) throws -> [Int] {
        let file = try AnimatedFile(generated: name)
        return try file.bytes.withUnsafeBytes { bytes in
            var sequence = try AVIFReader(bytes, .sequence, pixelsMax: 4_096, framesMax: 100)
            var begun: [Int] = []
            for index in order {
                var count = 0
                try sequence.decode(index, in: bytes) {
                    count += 1
                    return false
                }
                begun.append(count)
            }
            return begun
        }
    }

    /// Two in three frames are independent of all others: 0, 1, 3, 4 and so on.
    @Test func noFrameIsDecodedThatNoneNeeds() throws {
        let order = [0, 1, 2, 3, 3, 8, 4, 5, 11, 0]
        let begun = try frames(begunFor: order, of: "alpha.avif")
        #expect(begun == [1, 1, 1, 1, 0, 2, 1, 1, 2, 1])
        #expect(try frames(begunFor: [11, 2], of: "lossless.avif") == [12, 3])
    }

    @Test func aDecodeEndsBetweenFrames() throws {
        let file = try AnimatedFile(generated: "lossless.avif")
        try file.bytes.withUnsafeBytes { bytes in
            var sequence = try AVIFReader(bytes, .sequence, pixelsMax: 4_096, framesMax: 100)
            var asked = 0
            var error: CodecError?
            do throws(CodecError) {
                try sequence.decode(11, in: bytes) {
                    asked += 1
                    return asked == 5
                }
            } catch let thrown {
                error = thrown
            }
            #expect(error?.kind == .cancelled && asked == 5)
        }
    }

    @Test func framesBeyondALimitAreNotLookedAt() throws {
        let file = try AnimatedFile(generated: "lossless.avif")
        file.bytes.withUnsafeBytes { bytes in
            for (pixels, frames) in [(37 * 29 - 1, 100), (4_096, 11)] {
                var error: CodecError?
                do throws(CodecError) {
                    var sequence = try AVIFReader(
                        bytes, .sequence, pixelsMax: pixels, framesMax: frames)
                    try sequence.decode(0, in: bytes) { false }
                } catch let thrown {
                    error = thrown
                }
                #expect(error?.kind == .corrupt, "\(pixels), \(frames)")
            }
        }
    }
}
