import ImageModel
import Linux
import Messages
import SharedArena
import StageContract
import Testing

@testable import ImagebusWorker

@Suite struct CoderStageTests {
    private let bench: StageBench

    init() throws { bench = try StageBench() }

    /// What a coder of a test does.
    private struct Scripted: Coder {
        let format = ImageFormat.qoi
        var form = PixelForm(width: 4, height: 2, bands: .rgba)
        var thrownByHeader: (any Error & Sendable)?
        var thrownByPixels: (any Error & Sendable)?
        var writes = 32
        var isKnown = true

        func recognises(_ data: Span<UInt8>) -> Bool { isKnown }

        func header(of data: Span<UInt8>) throws -> PixelForm {
            if let thrownByHeader { throw thrownByHeader }
            return form
        }

        func pixels(
            of data: Span<UInt8>, _ header: PixelForm, into pixels: inout MutableSpan<UInt8>,
            _ cancellation: Cancellation
        ) throws {
            for index in 0..<writes { pixels[index] = UInt8(index + 1) }
            if let thrownByPixels { throw thrownByPixels }
        }
    }

    private func perform(
        _ coder: Scripted, _ work: DecodeWork? = nil, isCancelled: Bool = false
    ) throws(ImageError) -> DecodedImage {
        let flag = CancellationFlag()
        if isCancelled { flag.cancel() }
        let work = work ?? self.work()
        return try CoderStage(coder: coder, log: bench.log).perform(
            work, input: UnsafeRawBufferPointer(start: nil, count: 0), output: bench.arena,
            cancellation: Cancellation(flag))
    }

    private func work(
        need: DecodeNeed = .full, frame: Int? = nil, limits: ImageLimits = ImageLimits()
    ) -> DecodeWork {
        DecodeWork(source: StageBench.nowhere, frame: frame, need: need, limits: limits)
    }

    @Test func pixelsLieAsTheHeaderSays() throws {
        let image = try perform(Scripted())
        let frame = try #require(image.frames.first)
        #expect(
            image.info
                == ImageInfo(
                    format: .qoi, size: PixelSize(width: 4, height: 2), hasAlpha: true))
        #expect(frame.layout == Scripted().form.layout() && frame.layout.byteCount == 32)
        #expect(try bench.bytes(frame.reference) == Array(1...32))
    }

    @Test func whatIsNotWrittenIsNoOtherImages() throws {
        try bench.soil(32)
        let image = try perform(Scripted(writes: 3))
        let bytes = try bench.bytes(#require(image.frames.first).reference)
        #expect(bytes == [1, 2, 3] + [UInt8](repeating: 0, count: 29))
    }

    @Test func whatIsNotItsOwnIsForTheNextOne() {
        #expect(throws: ImageError(.unsupportedFormat, "this coder does not know the image")) {
            try perform(Scripted(isKnown: false))
        }
    }

    @Test func noPixelIsMadeOfWhatOnlyItsHeaderIsWantedOf() throws {
        let coder = Scripted(thrownByPixels: InvalidInput("no"))
        #expect(try perform(coder, work(need: .header)).frames.isEmpty)
    }

    @Test func noPixelIsMadeBeyondALimit() throws {
        let coder = Scripted(thrownByPixels: Errno.noDevice)
        let error = #expect(throws: ImageError.self) {
            try perform(coder, work(limits: ImageLimits(pixelBytesMax: 31)))
        }
        #expect(error?.code == .limitExceeded && error?.details["limit"] == "bytes")
    }

    /// What an author throws, by whichever function, and what the caller gets.
    @Test(arguments: [
        (
            InvalidInput("it ends early") as any Error & Sendable, ErrorCode.badImageData,
            "the qoi image cannot be decoded: it ends early"
        ),
        (ImageError(.unsupportedFormat, "later"), .unsupportedFormat, "later"),
        (Failure(domain: "D", code: 3, "so"), .foreignFailure, "so"),
        (
            Failure(domain: "", code: 3, "so"), .internalError,
            "a foreign worker failed (Failure); its log says more"
        ),
        (CancellationError(), .cancelled, "nobody wants it any more"),
        (
            Errno.noDevice, .internalError,
            "a foreign worker failed (Errno); its log says more"
        ),
    ])
    func anErrorOfTheAuthorIsTold(
        thrown: any Error & Sendable, code: ErrorCode, message: String
    ) throws {
        for coder in [Scripted(thrownByHeader: thrown), Scripted(thrownByPixels: thrown)] {
            let error = #expect(throws: ImageError.self) { try perform(coder) }
            #expect(error?.code == code && error?.message == message)
            #expect(error?.foreign == (code == .foreignFailure ? .init(domain: "D", code: 3) : nil))
        }
        #expect(bench.arena.usage.blocks == 0, "what was reserved is free again")
    }

    @Test func whatIsDoneForNobodyIsCancelled() throws {
        let error = #expect(throws: ImageError.self) {
            try perform(Scripted(), isCancelled: true)
        }
        #expect(error?.code == .cancelled && bench.arena.usage.blocks == 0)
    }

    @Test func otherFramesAndBeginningsAreNotThere() throws {
        var beginning = work()
        beginning.isPartial = true
        for (work, code) in [(work(frame: 1), ErrorCode.stepFailed), (beginning, .badImageData)] {
            let error = #expect(throws: ImageError.self) { try perform(Scripted(), work) }
            #expect(error?.code == code)
        }
        #expect(try perform(Scripted(), work(frame: 0)).frames.count == 1)
    }

    @Test func factsThatAreAskedForAreNotKnown() throws {
        var work = work()
        work.facts.kinds = .exif
        #expect(try perform(Scripted(), work).facts == ImageFacts())
        #expect(try perform(Scripted()).facts == nil)
    }
}
