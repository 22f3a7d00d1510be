import Model
import StageKit
import Synchronization
import TestKit
import Testing

/// Results that can't be animated, or are too large.
@Suite struct AnimatedRefusalTests {
    private func failure(_ job: AnimatedJob, _ bytes: [UInt8]) -> ImageError? {
        #expect(throws: ImageError.self) { try job.run(bytes) }
    }

    @Test func tooManyFramesAreRefusedBeforeAnyPixel() throws {
        let file = try AnimatedFile(generated: "kept.gif")
        let reserved = Mutex(0)
        let space = HeapSpace(onReserve: { reserved.withLock { $0 += 1 } })
        var job = AnimatedJob()
        job.limits.pagesMax = 13
        let error = #expect(throws: ImageError.self) { try job.decode(file.bytes, space) }
        #expect(error?.code == .limitExceeded)
        #expect(error?.details["setting"] == "page-limit")
        #expect(error?.message.contains("14 pages") == true, "\(error?.message ?? "")")
        #expect(reserved.withLock { $0 } == 0)
    }

    /// The pixel limit applies to each frame; all frames together have a byte limit.
    @Test func tooManyPixelsOfAllFramesAreRefusedBeforeAnyPixel() throws {
        let file = try AnimatedFile(generated: "kept.gif")
        let reserved = Mutex(0)
        let space = HeapSpace(onReserve: { reserved.withLock { $0 += 1 } })
        var job = AnimatedJob()
        job.limits.pixelsMax = 37 * 29 - 1
        let error = #expect(throws: ImageError.self) { try job.decode(file.bytes, space) }
        #expect(error?.code == .limitExceeded && error?.details["setting"] == "pixel-limit")
        job.limits.pixelsMax += 1
        job.limits.pixelBytesMax = 4 * 37 * 29 * 14 - 1
        let bytes = #expect(throws: ImageError.self) { try job.decode(file.bytes, space) }
        #expect(bytes?.code == .limitExceeded && bytes?.details["limit"] == "pixelBytesMax")
        #expect(reserved.withLock { $0 } == 0)
        job.limits.pixelBytesMax += 1
        #expect(throws: Never.self) { try job.decode(file.bytes, space) }
    }

    @Test func framesThatBecomeTooLargeAreRefused() throws {
        let file = try AnimatedFile(generated: "kept.gif")
        var job = AnimatedJob(
            steps: [.resize(PixelSize(width: 370, height: 290), .stretch, enlarges: true)])
        job.output.format = .png
        job.limits.pixelsMax = 370 * 290
        job.limits.pixelBytesMax = 4 * 370 * 290 * 14 - 1
        let error = failure(job, file.bytes)
        #expect(error?.code == .limitExceeded && error?.details["limit"] == "pixelBytesMax")
        job.limits.pixelBytesMax += 1
        #expect(throws: Never.self) { try job.run(file.bytes) }
    }

    @Test func whatIsCutOffIsNoAnimation() throws {
        let file = try AnimatedFile(generated: "mixed.apng")
        let error = failure(AnimatedJob(), Array(file.bytes.prefix(file.bytes.count / 2)))
        #expect(error?.code == .badImageData, "\(String(describing: error))")
    }

    @Test func framesOfSeveralSizesAreNoResult() throws {
        let file = try AnimatedFile(generated: "cleared.gif")
        var job = AnimatedJob(steps: [.trim(tolerance: 10)])
        job.output.format = .png
        let error = failure(job, file.bytes)
        #expect(error?.code == .stepFailed)
        #expect(error?.message.contains("leave out trim") == true)
    }

    @Test func aPaletteOfAnAnimatedPNGIsRefused() throws {
        let file = try AnimatedFile(generated: "mixed.apng")
        var job = AnimatedJob()
        job.output.colors = 16
        #expect(failure(job, file.bytes)?.code == .stepFailed)
    }

    @Test(arguments: [ImageFormat.png, .webp, .gif])
    func aCancelledJobLeavesNothing(format: ImageFormat) throws {
        let file = try AnimatedFile(generated: "kept.gif")
        var job = AnimatedJob()
        job.output.format = format
        let decoding = CancellationFlag()
        let space = HeapSpace(onReserve: { decoding.cancel() })
        let error = #expect(throws: ImageError.self) {
            try job.decode(file.bytes, space, cancellation: decoding)
        }
        #expect(error?.code == .cancelled && space.outstanding == 0)
        let decoded = try job.decode(file.bytes)
        let encoding = CancellationFlag()
        let other = HeapSpace(onReserve: { encoding.cancel() })
        let ended = #expect(throws: ImageError.self) {
            try job.transform(decoded, other, cancellation: encoding)
        }
        #expect(ended?.code == .cancelled && other.outstanding == 0)
    }

    /// A layout that declares more frames than its block contains.
    @Test func framesThatAreNotThereAreNotRead() throws {
        let file = try AnimatedFile(generated: "kept.gif")
        var decoded = try AnimatedJob().decode(file.bytes)
        decoded.pixels.removeLast()
        let error = #expect(throws: ImageError.self) { try AnimatedJob().transform(decoded) }
        #expect(error?.code == .internalError)
    }
}
