import Model
import ProcessRuntime
import TestKit
import Testing

@testable import ImagebusWorker

@Suite struct EncoderStageTests {
    private let bench: StageBench

    init() throws { bench = try StageBench() }

    /// Writes its quality and its samples as the file, unless it is set to fail.
    private struct Scripted: Encoder {
        let format = ImageFormat.qoi
        var thrown: (any Error & Sendable)?
        var isEmpty = false

        func encode(
            _ samples: Span<UInt8>, of image: PixelForm, quality: Int?,
            _ cancellation: Cancellation
        ) throws -> [UInt8] {
            if let thrown { throw thrown }
            if isEmpty { return [] }
            return [UInt8(quality ?? 255)] + samples.indices.map { samples[$0] }
        }
    }

    private func work(
        _ output: OutputOptions = OutputOptions(format: .qoi), steps: [TransformStep] = [],
        limits: ImageLimits = ImageLimits(),
        layout: PixelLayout = PixelForm(width: 2, height: 1, bands: .rgba).layout(at: 3)
    ) -> TransformWork {
        TransformWork(
            source: StageBench.nowhere, layout: layout,
            sourceInfo: ImageInfo(format: .png, size: PixelSize(width: 2, height: 1)),
            steps: steps, output: output, limits: limits)
    }

    private func perform(
        _ encoder: Scripted = Scripted(), _ work: TransformWork? = nil, isCancelled: Bool = false
    ) throws -> EncodedImage {
        let flag = CancellationFlag()
        if isCancelled { flag.cancel() }
        let work = work ?? self.work()
        return try Array<UInt8>(1...11).withUnsafeBytes { input in
            try EncoderStage(encoder: encoder, log: bench.log).perform(
                work, input: input, output: bench.arena, cancellation: Cancellation(flag))
        }
    }

    @Test(arguments: [(nil, 255), (40, 40)] as [(Int?, UInt8)])
    func theFileIsWhatTheAuthorMakesOfTheSamples(quality: Int?, first: UInt8) throws {
        let image = try perform(Scripted(), work(OutputOptions(format: .qoi, quality: quality)))
        #expect(try bench.bytes(image.reference) == [first, 4, 5, 6, 7, 8, 9, 10, 11])
        let size = PixelSize(width: 2, height: 1)
        #expect(image.info == ImageInfo(format: .qoi, size: size, hasAlpha: true))
    }

    @Test func whatItCannotHoldIsSaid() {
        let error = refusal { try perform(Scripted(thrown: InvalidInput("too blue"))) }
        #expect(error?.code == .unsupportedFormat && error?.details["format"] == "qoi")
        #expect(error?.message.contains("too blue") == true)
    }

    @Test(arguments: [(8, ErrorCode?.some(.limitExceeded)), (9, nil)])
    func aFileIsNoLongerThanPixelsMayBe(most: Int, expected: ErrorCode?) {
        var limits = ImageLimits()
        limits.pixelBytesMax = most
        #expect(refusal { try perform(Scripted(), work(limits: limits)) }?.code == expected)
    }

    @Test func nothingElseIsDone() {
        #expect(refusal { try perform(Scripted(isEmpty: true)) }?.code == .internalError)
        #expect(refusal { try perform(isCancelled: true) }?.code == .cancelled)
        let others = [
            work(OutputOptions(format: .png)), work(OutputOptions()),
            work(steps: [.custom(CustomStep("test.step"))]),
            // More than the block contains.
            work(layout: PixelForm(width: 2, height: 1, bands: .rgba).layout(at: 4)),
        ]
        for work in others {
            #expect(refusal { try perform(Scripted(), work) }?.code == .invalidRequest)
        }
        #expect(bench.arena.usage.blocks == 0, "nothing is left of what failed")
    }
}
