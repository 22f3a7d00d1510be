import StageKit
import Testing
import Vips
import Zimg

@testable import Model
@testable import Transforming

@Suite struct RefusalTests {
    @Test func pixelsThatDoNotFitTheirLayoutAreRefused() {
        var short = Source.quarters(10, 10)
        short.samples.removeLast()
        var stride = Source.quarters(10, 10)
        stride.layout.planes[0].stride = 29
        var active = Source.quarters(10, 10)
        active.layout.planes[0].activeWidth = 10.5
        var nothing = Source.quarters(10, 10)
        nothing.layout.planes[0].activeHeight = .nan
        var size = Source.quarters(10, 10)
        size.info.size = PixelSize(width: 0, height: 10)
        for source in [short, stride, active, nothing, size] {
            #expect(failure(source, [])?.code == .internalError)
        }
    }

    @Test func rowsWithPaddingAreRead() throws {
        var source = Source(10, 4) { x, y, band in x * 20 + y * 3 + band }
        let plain = source.samples
        source.layout.planes[0].stride = 37
        source.samples = []
        for row in 0..<4 {
            source.samples +=
                plain[(row * 30)..<(row * 30 + 30)] + [UInt8](repeating: 0xEE, count: 7)
        }
        #expect(try transform(source, []).samples == plain)
    }

    @Test func aStepOfSomebodyElseIsRefusedByName() {
        let error = failure(.quarters(10, 10), [.custom(CustomStep("acme.denoise"))])
        #expect(error?.code == .stepFailed)
        #expect(error?.details == ["step": "acme.denoise"])
    }

    /// The compiler doesn't require a `PixelStep`: without one, a step fails once an image needs
    /// it. An overlay is composited by its own operation, and custom steps are those of plug-ins.
    @Test func eachStepOfOursHasPixels() {
        let box = PixelSize(width: 4, height: 4)
        let withMessage: [TransformStep] = [
            .resize(box, .fit), .crop(PixelRect(x: 0, y: 0, size: box)),
            .rotate(Rotation(degreesClockwise: 90)), .flip(horizontal: true, vertical: false),
        ]
        let named = TransformStep.valued.map { $0.blank.step }
        let names = (withMessage + named).map(\.name) + ["overlay"]
        #expect(names.sorted() == TransformStep.ownNames.sorted())
        for step in withMessage + named { #expect(step.form is any PixelStep, "\(step.name)") }
    }

    @Test func theSourceIsHeldToTheLimits() {
        var source = Source.quarters(10, 10)
        source.info.size = PixelSize(width: 1000, height: 1000)
        #expect(failure(source, [], limits: ImageLimits(sideMax: 999))?.code == .limitExceeded)
        #expect(
            failure(source, [], limits: ImageLimits(pixelsMax: 999_999))?.code == .limitExceeded)
    }

    @Test func aCancelledJobComputesNothing() throws {
        let cancellation = CancellationFlag()
        cancellation.cancel()
        let error = #expect(throws: ImageError.self) {
            try transform(.quarters(10, 10), [], cancellation: cancellation)
        }
        #expect(error?.code == .cancelled)
    }

    /// Space is reserved right before pixels are computed. libvips polls for cancellation on a
    /// separate thread: on a busy machine everything may be computed before that thread is
    /// scheduled. So the job is run and canceled up to a hundred times.
    @Test(arguments: [ImageFormat.jpeg, .png, .webp])
    func aBigJobStopsWhenItIsCancelledMidway(format: ImageFormat) throws {
        var error: ImageError?
        for _ in 0..<100 where error == nil {
            let cancellation = CancellationFlag()
            let space = HeapSpace(onReserve: { cancellation.cancel() })
            do {
                _ = try transform(
                    .quarters(200, 200),
                    [.resize(PixelSize(width: 2000, height: 2000), .stretch)],
                    output: OutputOptions(format: format), space: space,
                    cancellation: cancellation)
            } catch let refusal as ImageError {
                error = refusal
            }
        }
        #expect(error?.code == .cancelled)
    }

    /// The same for a single step.
    @Test func whatAStepHasComputedStopsToo() throws {
        try VipsLibrary().exclusively {
            let cancellation = CancellationFlag()
            let samples = [UInt8](repeating: 7, count: 64 * 64)
            try samples.withUnsafeBytes { pixels in
                let image = try VipsImage.pixels(pixels, width: 64, height: 64, bands: 1)
                let current = try StepImage(
                    image, size: PixelSize(width: 64, height: 64),
                    active: ActiveRegion(width: 64, height: 64), isOpaque: true,
                    sampler: PlaneSampler(graphs: ZimgGraphCache(), cancellation: cancellation)
                ).resampled(to: PixelSize(width: 2000, height: 2000))
                cancellation.cancel()
                var error: VipsError?
                for _ in 0..<100 where error == nil {
                    do {
                        try current.image.flippedVertically().save(.jpeg(quality: 80)) { _ in true }
                    } catch let refusal as VipsError { error = refusal }
                }
                #expect(error?.kind == .killed)
            }
        }
    }
}
