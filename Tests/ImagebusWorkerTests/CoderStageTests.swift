import Linux
import Model
import ProcessRuntime
import Testing

@testable import ImagebusWorker

@Suite struct CoderStageTests {
    private let bench: StageBench

    init() throws { bench = try StageBench() }

    /// A coder whose behavior is set by the test.
    private struct Scripted: Coder {
        let format = ImageFormat.qoi
        var form = PixelForm(width: 4, height: 2, bands: .rgba)
        var thrownByHeader: (any Error & Sendable)?
        var thrownByPixels: (any Error & Sendable)?
        var writes = 32
        var isKnown = true
        var frames = 0
        var rows: Int?

        func recognizes(_ data: Span<UInt8>) -> Bool { isKnown }

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

        var properties: AnimationProperties {
            AnimationProperties(durations: (0..<UInt32(frames)).map { 1_000 + $0 }, loops: 2)
        }

        func animation(of data: Span<UInt8>, _ header: PixelForm) -> AnimationProperties? {
            properties
        }

        /// Each sample encodes its frame number and its band.
        func frame(
            _ number: Int, of data: Span<UInt8>, _ header: PixelForm,
            into pixels: inout MutableSpan<UInt8>, _ cancellation: Cancellation
        ) throws {
            for index in pixels.indices {
                pixels[index] = UInt8(16 * number + index % header.bands.rawValue)
            }
            if number == 2, let thrownByPixels { throw thrownByPixels }
        }

        func arrived(
            of data: Span<UInt8>, _ header: PixelForm, into pixels: inout MutableSpan<UInt8>,
            _ cancellation: Cancellation
        ) throws -> Bool {
            if let thrownByPixels { throw thrownByPixels }
            for index in 0..<(rows ?? 0) * header.stride { pixels[index] = 9 }
            return rows != nil
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
        #expect(throws: ImageError(.unsupportedFormat, "this coder does not recognize the image")) {
            try perform(Scripted(isKnown: false))
        }
    }

    @Test func noPixelIsMadeOfWhatOnlyItsHeaderIsWantedOf() throws {
        let coder = Scripted(thrownByPixels: InvalidInput("no"))
        #expect(try perform(coder, work(need: .header)).frames.isEmpty)
    }

    @Test func noPixelIsMadeBeyondALimit() throws {
        let coder = Scripted(thrownByPixels: Errno.noDevice)
        let error = refusal { try perform(coder, work(limits: ImageLimits(pixelBytesMax: 31))) }
        #expect(error?.code == .limitExceeded && error?.details["limit"] == "bytes")
    }

    /// Errors thrown by a plug-in from each function, and the error that the caller gets.
    @Test(arguments: [
        (
            InvalidInput("it ends early") as any Error & Sendable, ErrorCode.badImageData,
            "the qoi image cannot be decoded: it ends early"
        ),
        (ImageError(.unsupportedFormat, "later"), .unsupportedFormat, "later"),
        (Failure(domain: "D", code: 3, "so"), .foreignFailure, "so"),
        (
            Failure(domain: "", code: 3, "so"), .internalError,
            "a plug-in worker failed (Failure); see its log"
        ),
        (CancellationError(), .cancelled, "the result is no longer wanted"),
        (
            Errno.noDevice, .internalError,
            "a plug-in worker failed (Errno); see its log"
        ),
    ])
    func anErrorOfTheAuthorIsTold(
        thrown: any Error & Sendable, code: ErrorCode, message: String
    ) throws {
        for coder in [Scripted(thrownByHeader: thrown), Scripted(thrownByPixels: thrown)] {
            let error = refusal { try perform(coder) }
            #expect(error?.code == code && error?.message == message)
            #expect(
                error?.external == (code == .foreignFailure ? .init(domain: "D", code: 3) : nil))
        }
        #expect(bench.arena.usage.blocks == 0, "reserved blocks are free again")
    }

    @Test func whatIsDoneForNobodyIsCancelled() throws {
        let error = refusal { try perform(Scripted(), isCancelled: true) }
        #expect(error?.code == .cancelled && bench.arena.usage.blocks == 0)
    }

    @Test func whatIsNoAnimationHasOneFrame() throws {
        for coder in [Scripted(), Scripted(frames: 1)] {
            let error = refusal { try perform(coder, work(frame: 1)) }
            #expect(error?.code == .stepFailed)
            var all = work()
            all.wantsAllFrames = true
            for work in [work(frame: 0), all] {
                let image = try perform(coder, work)
                #expect(image.info.pages == 1 && image.frames.count == 1)
                #expect(image.frames.first?.layout == coder.form.layout())
            }
        }
    }

    @Test func aFrameIsMadeByItsNumber() throws {
        let coder = Scripted(form: PixelForm(width: 4, height: 2, bands: .rgb), frames: 3)
        for (frame, number) in [(nil, 0), (0, 0), (2, 2)] {
            let image = try perform(coder, work(frame: frame))
            #expect(image.info.pages == 3 && image.frames.count == 1)
            let produced = try #require(image.frames.first)
            #expect(produced.layout == coder.form.layout())
            let pixel = (0..<3).map { UInt8(16 * number + $0) }
            let expected = [[UInt8]](repeating: pixel, count: 8).flatMap(\.self)
            #expect(try bench.bytes(produced.reference) == expected)
        }
        let error = refusal { try perform(coder, work(frame: 3)) }
        #expect(error?.code == .stepFailed)
        #expect(try perform(coder, work(need: .header)).info.pages == 3)
    }

    /// Always with four bands, regardless of the coder's bands.
    @Test(arguments: PixelForm.Bands.allCases)
    func allFramesLieOneBehindTheOther(bands: PixelForm.Bands) throws {
        var coder = Scripted(form: PixelForm(width: 4, height: 2, bands: bands), frames: 3)
        var all = work()
        all.wantsAllFrames = true
        try bench.soil(96)
        let image = try perform(coder, all)
        let produced = try #require(image.frames.first)
        #expect(image.frames.count == 1 && image.info.hasAlpha == bands.hasAlpha)
        #expect(produced.layout.animation == coder.properties)
        #expect(produced.layout.byteCount == 96 && produced.layout.planes.first?.bands == .rgba)
        let places: [UInt8] =
            switch bands {
            case .gray, .grayAlpha: [0, 0, 0, 1]
            case .rgb, .rgba: [0, 1, 2, 3]
            }
        let expected = (0..<3).flatMap { number -> [UInt8] in
            var pixel = places.map { UInt8(16 * number) + $0 }
            if !bands.hasAlpha { pixel[3] = 255 }
            return [[UInt8]](repeating: pixel, count: 8).flatMap(\.self)
        }
        #expect(try bench.bytes(produced.reference) == expected)

        bench.arena.free(produced.reference.block)
        coder.thrownByPixels = InvalidInput("it ends early")
        let error = refusal { try perform(coder, all) }
        #expect(error?.code == .badImageData && bench.arena.usage.blocks == 0)
    }

    @Test func whatHasArrivedIsShownWhereThereIsAnything() throws {
        var beginning = work()
        beginning.isPartial = true
        try bench.soil(32)
        let image = try perform(Scripted(rows: 1), beginning)
        let bytes = try bench.bytes(#require(image.frames.first).reference)
        #expect(bytes == [UInt8](repeating: 9, count: 16) + [UInt8](repeating: 0, count: 16))
        bench.arena.free(try #require(image.frames.first).reference.block)

        var another = beginning
        another.frame = 1
        let later = try perform(Scripted(frames: 3, rows: 1), another)
        #expect(later.frames.isEmpty && bench.arena.usage.blocks == 0)

        let nothing = try perform(Scripted(thrownByPixels: nil), beginning)
        #expect(nothing.frames.isEmpty && nothing.info.size == PixelSize(width: 4, height: 2))
        let error = refusal { try perform(Scripted(thrownByPixels: InvalidInput("no")), beginning) }
        #expect(error?.code == .badImageData && bench.arena.usage.blocks == 0)
    }

    @Test func factsThatAreAskedForAreNotKnown() throws {
        var work = work()
        work.properties.kinds = .exif
        #expect(try perform(Scripted(), work).properties == ImageProperties())
        #expect(try perform(Scripted()).properties == nil)
    }
}
