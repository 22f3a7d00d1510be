import Model
import Testing

@testable import Coordinator

/// Custom steps of plug-ins, with built-in steps before and after them.
struct StepChainTests {
    private static let mark = TransformStep.custom(
        CustomStep("acme.mark", parameters: ["text": "draft"]))
    private static let tone = TransformStep.custom(CustomStep("acme.tone"))
    private static let turn = TransformStep.rotate(Rotation(degreesClockwise: 90))
    private static let qoi = OutputOptions(format: .qoi)
    private var stack = Stack.staffed()
    private var theirs = WorkerID(0)

    init() { begin() }

    /// A stack with a worker for the steps.
    private mutating func begin(_ change: (inout SchedulerLimits) -> Void = { _ in }) {
        stack = Stack.staffed {
            $0.dispatch.pools = .withSteps
            change(&$0)
        }
        theirs = stack.hire(.transform, credit: 2, pool: .steps)
    }

    private static func image(
        _ steps: [TransformStep] = [], name: String = "a",
        _ output: OutputOptions = OutputOptions(format: .webp)
    ) -> ImageRequest {
        .image(name, size: 20).with {
            $0.steps += steps
            $0.output = output
        }
    }

    /// Loads an image, whose pixels are then transformed.
    private mutating func decode(_ image: ImageRequest) -> Token {
        let token = stack.load(image)
        stack.run(.query, .query, .fetch, .decode)
        return token
    }

    /// The only transform in flight.
    private func transform() -> (work: TransformWork, worker: WorkerID)? {
        let held = stack.held(.transform)
        guard held.count == 1, let work = held[0].work.transform else { return nil }
        return (work, held[0].worker)
    }

    /// Completes the links one after the other. Returns the worker, steps and format of each.
    private mutating func links() -> [String] {
        var links: [String] = []
        while let (work, worker) = transform() {
            let who = worker == stack.worker(.transform) ? "ours" : "theirs"
            links.append(
                "\(who) \(work.steps.map(\.name)) \(work.resultFormat(hasAlpha: false).name)")
            stack.run(.transform)
        }
        return links
    }

    /// Completes everything. The load, if one is given, has its image.
    @discardableResult
    private mutating func end(_ token: Token? = nil) -> ImageInfo? {
        stack.finishAll()
        if let token { #expect(stack.image(token) != nil) }
        #expect(stack.isDone)
        return token.flatMap { stack.image($0)?.info }
    }

    @Test mutating func eachLinkGoesToWhoDoesIt() throws {
        let token = decode(Self.image([Self.mark, Self.tone, Self.turn]))
        let ours = stack.worker(.transform)

        var link = try #require(transform())
        #expect(link.work.steps.map(\.name) == ["resize"] && link.worker == ours)
        #expect(link.work.output == OutputOptions(format: .pam))
        #expect(link.work.sourceInfo.size == PixelSize(width: 40, height: 30))
        stack.run(.transform)
        for name in ["acme.mark", "acme.tone"] {
            link = try #require(transform())
            #expect(link.work.steps.map(\.name) == [name] && link.worker == theirs)
            #expect(link.work.sourceInfo.size == PixelSize(width: 20, height: 15))
            let plane = try #require(link.work.layout.planes.first)
            #expect((plane.bands, plane.offset, plane.stride) == (.rgb, 128, 60))
            #expect(link.work.layout.byteCount == 128 + 900)
            #expect(Int(link.work.source.length) == 128 + 900)
            stack.run(.transform)
        }
        link = try #require(transform())
        #expect(link.work.steps == [Self.turn] && link.worker == ours)
        #expect(link.work.output.format == .webp && link.work.sourceInfo.format == .jpeg)
        #expect(end(token)?.size == PixelSize(width: 15, height: 20))
    }

    /// Decoded pixels become PAM first, and the final result is encoded by a built-in worker.
    @Test mutating func oursBeginAndEnd() throws {
        let token = decode(ImageRequest.image().with { $0.steps = [Self.mark] })
        var workers: [WorkerID] = []
        for _ in 0..<3 {
            workers.append(try #require(transform()).worker)
            stack.run(.transform)
        }
        let ours = stack.worker(.transform)
        #expect(workers == [ours, theirs, ours])
        #expect(end(token)?.format == .jpeg, "that of the source")
    }

    /// A format is selected by the size that the last link produces, without applying all steps to
    /// it again.
    @Test mutating func theLastLinkHasTheFormatThatItsSizeAccepts() throws {
        let smaller = TransformStep.resizeTo(
            RelativeSize(width: .percent(60), height: .percent(60)), .stretch)
        stack.load(
            .image().with {
                $0.steps = [smaller, Self.mark]
                $0.output.accepted = [.webp, .jxl]
            })
        stack.run(.query, .query, .fetch)
        // 19,200 columns are too many for WebP; 60 % of them would not be.
        decodePixels(
            ImageInfo(format: .png, size: PixelSize(width: 32_000, height: 10)), bands: .rgb)
        stack.run(.transform, .transform)
        let last = try #require(transform())
        #expect(last.work.resultFormat(hasAlpha: false) == .jxl, "WebP has no room for it")
        end()
    }

    /// Completes the decode with pixels, for all pages of an animation.
    private mutating func decodePixels(_ info: ImageInfo, bands: PixelPlane.Bands) {
        let held = stack.held(.decode)[0]
        let stride = Int(bands.rawValue) * info.size.width
        var layout = PixelLayout(bands: bands, size: info.size, stride: stride)
        if info.pages > 1 {
            layout.animation = AnimationProperties(
                durations: Array(repeating: 40, count: info.pages), loops: 0)
        }
        let length = UInt64(info.pages * stride * info.size.height)
        let frame = DecodedImage.Frame(
            reference: stack.block(of: held.worker, length: length), layout: layout)
        stack.finish(held, .decoded(DecodedImage(info: info, frames: [frame])))
    }

    // MARK: - Plug-in encoders

    @Test(arguments: 0...2)
    mutating func aFormatThatOursDoNotEncodeIsTheLastLink(count: Int) {
        let steps = [Self.mark, Self.turn].prefix(count)
        let links = [
            #"ours ["resize"] pam"#, #"theirs ["acme.mark"] pam"#, #"ours ["rotate"] pam"#,
        ]
        let token = decode(Self.image(Array(steps), Self.qoi))
        #expect(self.links() == links.prefix(count + 1) + ["theirs [] qoi"])
        #expect(end(token)?.format == .qoi)
    }

    /// TIFF can be encoded by built-in workers as well.
    @Test(arguments: [
        (OutputOptions(format: .tiff, quality: 70), "theirs [] tiff"),
        (OutputOptions(format: .tiff, compression: 4), #"ours ["resize"] tiff"#),
        (OutputOptions(format: .png), #"ours ["resize"] png"#),
        (OutputOptions(), #"ours ["resize"] jpeg"#),
    ])
    mutating func aFormatOfBothIsEncodedByTheirsWhereNothingElseIsSaid(
        output: OutputOptions, last: String
    ) {
        let token = decode(Self.image([], output))
        #expect(links().last == last)
        end(token)
    }

    /// It is painted as pixels first.
    @Test mutating func aColorIsEncodedByOthersToo() {
        let token = stack.load(
            Self.image([], Self.qoi).with {
                $0.context.fallback = .color(Color(argb: 0xFF00_FF00))
            })
        stack.run(.query, .query)
        stack.fail(.fetch, .invalidDownloadContentType)
        #expect(end(token)?.format == .qoi)
    }

    /// Plug-in encoders get a single image: if the result has all frames, a built-in worker encodes
    /// it.
    @Test(arguments: [true, false])
    mutating func framesAreEncodedByOurs(isAnimated: Bool) throws {
        begin {
            var pool = WorkerPools.withSteps.further[0]
            pool.grant.formatsOut = ["webp"]
            $0.dispatch.pools = WorkerPools([pool])
        }
        let token = stack.load(
            .image("a", .transformAnimatedImage).with { $0.output.format = .webp })
        stack.run(.query, .query, .fetch)
        let frames = isAnimated ? 3 : 1
        let size = PixelSize(width: 40, height: 30)
        decodePixels(
            ImageInfo(format: .gif, size: size, pages: frames, hasAlpha: true), bands: .rgba)
        let first = try #require(transform()).work
        #expect(first.layout.frames == frames)
        let expected = isAnimated ? ["ours [] webp"] : ["ours [] pam", "theirs [] webp"]
        #expect(links() == expected)
        end(token)
    }

    /// A sparse file of 512 GiB costs its producer nothing, but would delay others.
    @Test(arguments: [(10_001, false), (10_000, true)])
    mutating func whatTheyEncodeIsNoLongerThanPixelsMayBe(length: UInt64, isTaken: Bool) {
        begin { $0.workGraph.image.pixelBytesMax = 10_000 }
        let token = decode(Self.image([], Self.qoi))
        stack.run(.transform)
        stack.transform(length: length)
        #expect((stack.workers[theirs] != nil) == isTaken)
        stack.hire(.transform, pool: .steps)
        end(token)
    }

    /// Memory stores it unchanged; the report shows that it isn't on disk.
    @Test mutating func aSerializerLeavesAloneWhatNobodyDecodes() {
        let token = decode(
            Self.image([], Self.qoi).with {
                $0.context.serializer = .transcode(.png, quality: nil)
            })
        #expect(links().last == "theirs [] qoi")
        let delivery = stack.stores.first(where: \.delivers)
        #expect(delivery?.tiers == .memory && delivery?.key != nil)
        #expect(end(token)?.format == .qoi)
    }

    @Test(arguments: [ImageFormat.exr, .mp4, .undefined])
    mutating func aFormatThatNobodyIsGrantedFailsBeforeAnythingIsLoaded(format: ImageFormat) {
        let image = Self.image([], OutputOptions(format: format))
        #expect(stack.refusal(of: image) == .unsupportedFormat)
        #expect(stack.allHeld.isEmpty && stack.isDone)
    }

    /// The plug-in has one link left, and returns such a result. If it is not believed, its session
    /// ends, and another worker does it.
    private mutating func answer(_ image: ImageRequest, _ info: ImageInfo, length: UInt64) -> Token
    {
        let token = decode(image)
        stack.run(.transform)
        let reference = stack.block(of: theirs, length: length)
        stack.finish(.transform, .transformed(EncodedImage(reference: reference, info: info)))
        return token
    }

    private mutating func expectReplacement(_ token: Token) {
        #expect(stack.workers[theirs] == nil, "its session ended")
        #expect(stack.image(token) == nil)
        stack.hire(.transform, pool: .steps)
        end(token)
    }

    /// A result with another declared format, or a larger size.
    @Test(arguments: [(ImageFormat.png, 20), (.pam, 20), (.qoi, 21)])
    mutating func whoEncodesSomethingElseIsGone(format: ImageFormat, width: Int) {
        let info = ImageInfo(format: format, size: PixelSize(width: width, height: 15))
        expectReplacement(answer(Self.image([], Self.qoi), info, length: 500))
    }

    @Test(arguments: [(127, 0), (129, 0), (128 + 899, 0), (128 + 900, 1), (128 + 1_500, 0)])
    mutating func whoMakesMoreOrLessThanThePixelsIsGone(length: Int, alpha: Int) {
        let info = ImageInfo(
            format: .pam, size: PixelSize(width: 20, height: 15), hasAlpha: alpha == 1)
        expectReplacement(answer(Self.image([Self.mark]), info, length: UInt64(length)))
    }

    /// The length determines whether the image has alpha or is gray.
    @Test(arguments: [(1, false), (2, true), (3, false), (4, true)])
    mutating func theLengthSaysHowManySamplesThereAre(bands: Int, hasAlpha: Bool) throws {
        let info = ImageInfo(
            format: .pam, size: PixelSize(width: 20, height: 15), hasAlpha: hasAlpha)
        _ = answer(Self.image([Self.mark]), info, length: UInt64(128 + 300 * bands))
        let next = try #require(transform())
        #expect(next.work.layout.planes.map { Int($0.bands.rawValue) } == [bands])
        #expect(next.work.sourceInfo.hasAlpha == hasAlpha)
        end()
    }

    @Test mutating func aStepThatNobodyIsGrantedFailsBeforeAnythingIsLoaded() {
        let step = TransformStep.custom(CustomStep("nobody.step"))
        let token = stack.load(Self.image([Self.mark, step]))
        #expect(stack.error(token) == .stepFailed)
        #expect(stack.failure(token)?.details["step"] == "nobody.step")
        #expect(stack.allHeld.isEmpty && stack.isDone)
    }

    /// Custom steps go only to pools that are granted them by name.
    @Test mutating func ourWorkersDoNoStepOfSomebodyElse() {
        stack = Stack.staffed()
        #expect(stack.refusal(of: Self.image([Self.mark])) == .stepFailed)
        #expect(stack.allHeld.isEmpty && stack.faults == [])
    }

    @Test mutating func aLostWorkerCostsItsLinkAndLostPixelsTheWholeResult() {
        let token = decode(Self.image([Self.mark]))
        stack.run(.transform)
        stack.kill(theirs)
        #expect(stack.held(.decode).isEmpty && stack.held(.transform).isEmpty)
        stack.hire(.transform, pool: .steps)
        #expect(stack.held(.transform).count == 1, "the same pixels, another worker")
        // Blocks that built-in workers produced for it.
        stack.kill(stack.worker(.transform))
        #expect(stack.held(.transform).isEmpty, "\(stack.held(.transform))")
        stack.hire(.transform, credit: 4)
        end(token)
    }

    /// Completes everything. Returns the transforms.
    private mutating func finishTransforms() -> [TransformWork] {
        var works: [TransformWork] = []
        repeat {
            works += stack.finishJobs().compactMap(\.transform)
            stack.goOn()
        } while !stack.allHeld.isEmpty
        return works
    }

    @Test mutating func eachLinkGetsWhatItLaysOver() {
        let overlays = ["b", "c"].map {
            TransformStep.overlay(Overlay(url: ImageRequest.image($0).url))
        }
        let token = stack.load(Self.image([overlays[0], Self.mark, overlays[1]]))
        #expect(finishTransforms().map(\.overlays.count) == [1, 0, 1])
        end(token)
    }

    /// Output waiting for external workers doesn't count as output that built-in jobs wait for:
    /// with any budget, a chain continues as long as its jobs complete.
    @Test mutating func linksFindSpaceWhateverOthersHold() {
        begin {
            $0.dispatch.outputBytesMax.transform = 1_000
            $0.dispatch.outputBytesMax.decode = 1 << 20
        }
        let tokens = (0..<40).map {
            stack.load(Self.image([Self.mark, Self.turn, Self.tone], name: "n\($0)"))
        }
        stack.finishAll()
        let codes = tokens.map { stack.error($0) }
        #expect(codes.allSatisfy { $0 == nil || $0 == .busy }, "\(codes)")
        #expect(codes.contains(nil))
        #expect(stack.isDone)
    }

    /// A chain without workers occupies the output budget of its stage, and others continue.
    @Test mutating func aPoolWithoutWorkersKeepsNobodyElseWaiting() {
        begin {
            $0.dispatch.outputBytesMax.transform = 4_000
            $0.dispatch.outputBytesMax.decode = 1 << 20
        }
        stack.kill(theirs)
        let marked = (0..<12).map { stack.load(Self.image([Self.mark], name: "m\($0)")) }
        let plain = (0..<12).map { stack.load(Self.image(name: "p\($0)")) }
        stack.finishAll()
        #expect(plain.allSatisfy { stack.image($0) != nil })
        #expect(marked.count { stack.error($0) == .busy } == 9)
        stack.hire(.transform, credit: 2, pool: .steps)
        stack.finishAll()
        #expect(marked.count { stack.image($0) != nil } == 3)
        #expect(stack.isDone)
    }

    // MARK: - Limitations of plug-in steps

    @Test func animationsBecomeStillsAndNothingIsKeptBesideThePixels() {
        var request = ImageRequest.image("a", .transformAnimatedImage).with {
            $0.output.format = .webp
        }
        #expect(request.animates)
        request.steps = [Self.mark]
        #expect(!request.animates)
        #expect(KeptParts(request).isEmpty)
    }

    @Test mutating func whatWouldBeLostIsRefused() {
        let request = Self.image([Self.mark]).with { $0.output.keepsProfile = true }
        #expect(stack.refusal(of: request) == .invalidRequest)
        #expect(stack.allHeld.isEmpty && stack.faults == [])
    }

    @Test mutating func aSerializerEncodesWhatTheyMade() {
        let token = stack.load(
            Self.image([Self.mark]).with {
                $0.context.serializer = .transcode(.png, quality: nil)
            })
        #expect(finishTransforms().count { $0.steps.contains(Self.mark) } == 1, "asked once")
        end(token)
    }
}
