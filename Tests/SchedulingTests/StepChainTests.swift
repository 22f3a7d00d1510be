import Model
import Testing

@testable import Coordinator

/// Custom steps of plug-ins, with built-in steps before and after them.
struct StepChainTests {
    private static let mark = TransformStep.custom(
        CustomStep("acme.mark", parameters: ["text": "draft"]))
    private static let tone = TransformStep.custom(CustomStep("acme.tone"))
    private static let turn = TransformStep.rotate(Rotation(degreesClockwise: 90))

    private static func staffed(
        _ change: (inout SchedulerLimits) -> Void = { _ in }
    ) -> (Stack, ClientID, WorkerID) {
        var stack = Stack {
            $0.dispatch.pools = .withSteps
            change(&$0)
        }
        stack.hireAll()
        let worker = stack.hire(.transform, credit: 2, pool: .steps)
        let client = stack.connect()
        return (stack, client, worker)
    }

    private static func image(_ steps: [TransformStep], name: String = "a") -> ImageRequest {
        .image(name, size: 20).with {
            $0.steps += steps
            $0.output.format = .webp
        }
    }

    /// The only transform in flight.
    private static func transform(_ stack: Stack) -> (work: TransformWork, worker: WorkerID)? {
        let held = stack.held(.transform)
        guard held.count == 1, case .transform(let work) = held[0].job.work else { return nil }
        return (work, held[0].worker)
    }

    @Test func eachLinkGoesToWhoDoesIt() throws {
        var (stack, client, theirs) = Self.staffed()
        let token = stack.load(Self.image([Self.mark, Self.tone, Self.turn]), by: client)
        stack.run(.query)
        stack.run(.query, .fetch, .decode)
        let ours = stack.worker(.transform)

        var link = try #require(Self.transform(stack))
        #expect(link.work.steps.map(\.name) == ["resize"] && link.worker == ours)
        #expect(link.work.output == OutputOptions(format: .pam))
        #expect(link.work.sourceInfo.size == PixelSize(width: 40, height: 30))
        stack.run(.transform)
        for name in ["acme.mark", "acme.tone"] {
            link = try #require(Self.transform(stack))
            #expect(link.work.steps.map(\.name) == [name] && link.worker == theirs)
            #expect(link.work.sourceInfo.size == PixelSize(width: 20, height: 15))
            let plane = try #require(link.work.layout.planes.first)
            #expect((plane.bands, plane.offset, plane.stride) == (.rgb, 128, 60))
            #expect(link.work.layout.byteCount == 128 + 900)
            #expect(Int(link.work.source.length) == 128 + 900)
            stack.run(.transform)
        }
        link = try #require(Self.transform(stack))
        #expect(link.work.steps == [Self.turn] && link.worker == ours)
        #expect(link.work.output.format == .webp && link.work.sourceInfo.format == .jpeg)
        stack.finishAll()
        #expect(stack.image(token)?.info.size == PixelSize(width: 15, height: 20))
        #expect(stack.scheduler.isIdle && stack.faults == [])
    }

    /// Decoded pixels become PAM first, and the final result is encoded by a built-in worker.
    @Test func oursBeginAndEnd() throws {
        var (stack, client, theirs) = Self.staffed()
        let request = ImageRequest.image().with { $0.steps = [Self.mark] }
        let token = stack.load(request, by: client)
        stack.run(.query)
        stack.run(.query, .fetch, .decode)
        var workers: [WorkerID] = []
        for _ in 0..<3 {
            workers.append(try #require(Self.transform(stack)).worker)
            stack.run(.transform)
        }
        let ours = stack.worker(.transform)
        #expect(workers == [ours, theirs, ours])
        stack.finishAll()
        #expect(stack.image(token)?.info.format == .jpeg, "that of the source")
        #expect(stack.scheduler.isIdle && stack.faults == [])
    }

    /// A format is selected by the size that the last link produces, without applying all steps to
    /// it again.
    @Test func theLastLinkHasTheFormatThatItsSizeAccepts() throws {
        var (stack, client, _) = Self.staffed()
        let smaller = TransformStep.resizeTo(
            RelativeSize(width: .percent(60), height: .percent(60)), .stretch)
        let request = ImageRequest.image().with {
            $0.steps = [smaller, Self.mark]
            $0.output.accepted = [.webp, .jxl]
        }
        stack.load(request, by: client)
        stack.run(.query)
        stack.run(.query, .fetch)
        let decode = try #require(stack.held(.decode).first)
        // 19,200 columns are too many for WebP; 60 % of them would not be.
        let info = ImageInfo(format: .png, size: PixelSize(width: 32_000, height: 10))
        let layout = PixelLayout(bands: .rgb, size: info.size, stride: 3 * info.size.width)
        let bytes = UInt64(3 * info.size.width * info.size.height)
        let frame = DecodedImage.Frame(
            reference: stack.block(of: decode.worker, length: bytes), layout: layout)
        stack.finish(decode, .decoded(DecodedImage(info: info, frames: [frame])))
        stack.run(.transform, .transform)
        let last = try #require(Self.transform(stack))
        #expect(last.work.resultFormat(hasAlpha: false) == .jxl, "WebP has no room for it")
        stack.finishAll()
        #expect(stack.scheduler.isIdle && stack.faults == [])
    }

    // MARK: - Plug-in encoders

    /// Completes the links one after the other. Returns the worker, steps and format of each.
    private static func links(_ stack: inout Stack) -> [String] {
        var links: [String] = []
        while let (work, worker) = Self.transform(stack) {
            let who = worker == stack.worker(.transform) ? "ours" : "theirs"
            links.append(
                "\(who) \(work.steps.map(\.name)) \(work.resultFormat(hasAlpha: false).name)")
            stack.run(.transform)
        }
        return links
    }

    @Test(arguments: [
        (steps: [], links: [#"ours ["resize"] pam"#]),
        (
            steps: [Self.mark],
            links: [#"ours ["resize"] pam"#, #"theirs ["acme.mark"] pam"#]
        ),
        (
            steps: [Self.mark, Self.turn],
            links: [
                #"ours ["resize"] pam"#, #"theirs ["acme.mark"] pam"#, #"ours ["rotate"] pam"#,
            ]
        ),
    ])
    func aFormatThatOursDoNotEncodeIsTheLastLink(
        steps: [TransformStep], links: [String]
    ) throws {
        var (stack, client, _) = Self.staffed()
        let request = Self.image(steps).with { $0.output = OutputOptions(format: .qoi) }
        let token = stack.load(request, by: client)
        stack.run(.query)
        stack.run(.query, .fetch, .decode)
        #expect(Self.links(&stack) == links + ["theirs [] qoi"])
        stack.finishAll()
        #expect(stack.image(token)?.info.format == .qoi)
        #expect(stack.scheduler.isIdle && stack.faults == [])
    }

    /// TIFF can be encoded by built-in workers as well.
    @Test(arguments: [
        (OutputOptions(format: .tiff, quality: 70), "theirs [] tiff"),
        (OutputOptions(format: .tiff, compression: 4), #"ours ["resize"] tiff"#),
        (OutputOptions(format: .png), #"ours ["resize"] png"#),
        (OutputOptions(), #"ours ["resize"] jpeg"#),
    ])
    func aFormatOfBothIsEncodedByTheirsWhereNothingElseIsSaid(
        output: OutputOptions, last: String
    ) {
        var (stack, client, _) = Self.staffed()
        let token = stack.load(Self.image([]).with { $0.output = output }, by: client)
        stack.run(.query)
        stack.run(.query, .fetch, .decode)
        #expect(Self.links(&stack).last == last)
        stack.finishAll()
        #expect(stack.image(token) != nil && stack.scheduler.isIdle && stack.faults == [])
    }

    /// It is painted as pixels first.
    @Test func aColorIsEncodedByOthersToo() {
        var (stack, client, _) = Self.staffed()
        let token = stack.load(
            Self.image([]).with {
                $0.output = OutputOptions(format: .qoi)
                $0.context.fallback = .color(Color(argb: 0xFF00_FF00))
            }, by: client)
        stack.run(.query)
        stack.run(.query)
        stack.fail(.fetch, .invalidDownloadContentType)
        stack.finishAll()
        #expect(stack.image(token)?.info.format == .qoi)
        #expect(stack.scheduler.isIdle && stack.faults == [])
    }

    /// Plug-in encoders get a single image: if the result has all frames, a built-in worker encodes
    /// it.
    @Test(arguments: [true, false])
    func framesAreEncodedByOurs(isAnimated: Bool) throws {
        var (stack, client, _) = Self.staffed {
            var pool = WorkerPools.withSteps.further[0]
            pool.grant.formatsOut = ["webp"]
            $0.dispatch.pools = WorkerPools([pool])
        }
        let request = ImageRequest.image().with {
            $0.options = .transformAnimatedImage
            $0.output.format = .webp
        }
        let token = stack.load(request, by: client)
        stack.run(.query)
        stack.run(.query, .fetch)
        let held = try #require(stack.held(.decode).first)
        let size = PixelSize(width: 40, height: 30)
        var layout = PixelLayout(bands: .rgba, size: size, stride: 160)
        let frames = isAnimated ? 3 : 1
        if isAnimated {
            layout.animation = AnimationProperties(durations: [40, 40, 40], loops: 0)
        }
        let reference = stack.block(of: held.worker, length: UInt64(frames * 4_800))
        let info = ImageInfo(format: .gif, size: size, pages: frames, hasAlpha: true)
        let frame = DecodedImage.Frame(reference: reference, layout: layout)
        stack.finish(held, .decoded(DecodedImage(info: info, frames: [frame])))
        let first = try #require(Self.transform(stack)).work
        #expect(first.layout.frames == frames)
        let expected = isAnimated ? ["ours [] webp"] : ["ours [] pam", "theirs [] webp"]
        #expect(Self.links(&stack) == expected)
        stack.finishAll()
        #expect(stack.image(token) != nil && stack.scheduler.isIdle && stack.faults == [])
    }

    /// A sparse file of 512 GiB costs its producer nothing, but would delay others.
    @Test(arguments: [(10_001, false), (10_000, true)])
    func whatTheyEncodeIsNoLongerThanPixelsMayBe(length: UInt64, isTaken: Bool) throws {
        var (stack, client, theirs) = Self.staffed { $0.workGraph.image.pixelBytesMax = 10_000 }
        let token = stack.load(
            Self.image([]).with { $0.output = OutputOptions(format: .qoi) }, by: client)
        stack.run(.query)
        stack.run(.query, .fetch, .decode, .transform)
        let held = try #require(stack.held(.transform).first)
        stack.finish(held, stack.success(held, length: length))
        #expect((stack.workers[theirs] != nil) == isTaken)
        stack.hire(.transform, pool: .steps)
        stack.finishAll()
        #expect(stack.image(token) != nil && stack.scheduler.isIdle && stack.faults == [])
    }

    /// Memory stores it unchanged; the report shows that it isn't on disk.
    @Test func aSerializerLeavesAloneWhatNobodyDecodes() {
        var (stack, client, _) = Self.staffed()
        let request = Self.image([]).with {
            $0.output = OutputOptions(format: .qoi)
            $0.context.serializer = .transcode(.png, quality: nil)
        }
        let token = stack.load(request, by: client)
        stack.run(.query)
        stack.run(.query, .fetch, .decode)
        #expect(Self.links(&stack).last == "theirs [] qoi")
        let delivery = stack.held(.store).lazy.compactMap { held -> StoreWork? in
            guard case .store(let work) = held.job.work, work.delivers else { return nil }
            return work
        }.first
        #expect(delivery?.tiers == .memory && delivery?.key != nil)
        stack.finishAll()
        #expect(stack.image(token)?.info.format == .qoi)
        #expect(stack.scheduler.isIdle && stack.faults == [])
    }

    @Test(arguments: [ImageFormat.exr, .mp4, .undefined])
    func aFormatThatNobodyIsGrantedFailsBeforeAnythingIsLoaded(format: ImageFormat) {
        var (stack, client, _) = Self.staffed()
        let token = stack.load(
            Self.image([]).with { $0.output = OutputOptions(format: format) }, by: client)
        #expect(stack.error(token) == .unsupportedFormat)
        #expect(stack.allHeld.isEmpty && stack.scheduler.isIdle && stack.faults == [])
    }

    /// A result with another declared format, or a larger size, ends the plug-in's session.
    @Test(arguments: [(ImageFormat.png, 20), (.pam, 20), (.qoi, 21)])
    func whoEncodesSomethingElseIsGone(format: ImageFormat, width: Int) throws {
        var (stack, client, theirs) = Self.staffed()
        let token = stack.load(
            Self.image([]).with { $0.output = OutputOptions(format: .qoi) }, by: client)
        stack.run(.query)
        stack.run(.query, .fetch, .decode, .transform)
        let held = try #require(stack.held(.transform).first)
        let info = ImageInfo(format: format, size: PixelSize(width: width, height: 15))
        let reference = stack.block(of: theirs, length: 500)
        stack.finish(held, .transformed(EncodedImage(reference: reference, info: info)))
        #expect(stack.workers[theirs] == nil, "its session ended")
        stack.hire(.transform, pool: .steps)
        stack.finishAll()
        #expect(stack.image(token) != nil, "another one did it")
        #expect(stack.scheduler.isIdle && stack.faults == [])
    }

    @Test func aStepThatNobodyIsGrantedFailsBeforeAnythingIsLoaded() {
        var (stack, client, _) = Self.staffed()
        let step = TransformStep.custom(CustomStep("nobody.step"))
        let token = stack.load(Self.image([Self.mark, step]), by: client)
        #expect(stack.error(token) == .stepFailed)
        #expect(stack.failure(token)?.details["step"] == "nobody.step")
        #expect(stack.allHeld.isEmpty && stack.scheduler.isIdle && stack.faults == [])
    }

    /// Custom steps go only to pools that are granted them by name.
    @Test func ourWorkersDoNoStepOfSomebodyElse() {
        var (stack, client) = Stack.staffed()
        let token = stack.load(Self.image([Self.mark]), by: client)
        #expect(stack.error(token) == .stepFailed)
        #expect(stack.allHeld.isEmpty && stack.faults == [])
    }

    @Test(arguments: [(127, 0), (129, 0), (128 + 899, 0), (128 + 900, 1), (128 + 1_500, 0)])
    func whoMakesMoreOrLessThanThePixelsIsGone(length: Int, alpha: Int) throws {
        var (stack, client, theirs) = Self.staffed()
        let token = stack.load(Self.image([Self.mark]), by: client)
        stack.run(.query)
        stack.run(.query, .fetch, .decode, .transform)
        let held = try #require(stack.held(.transform).first)
        let info = ImageInfo(
            format: .pam, size: PixelSize(width: 20, height: 15), hasAlpha: alpha == 1)
        let reference = stack.block(of: theirs, length: UInt64(length))
        stack.finish(held, .transformed(EncodedImage(reference: reference, info: info)))
        #expect(stack.workers[theirs] == nil, "its session ended")
        #expect(stack.image(token) == nil)
        stack.hire(.transform, pool: .steps)
        stack.finishAll()
        #expect(stack.image(token) != nil, "another one did it")
        #expect(stack.scheduler.isIdle && stack.faults == [])
    }

    /// The length determines whether the image has alpha or is gray.
    @Test(arguments: [(1, false), (2, true), (3, false), (4, true)])
    func theLengthSaysHowManySamplesThereAre(bands: Int, hasAlpha: Bool) throws {
        var (stack, client, theirs) = Self.staffed()
        stack.load(Self.image([Self.mark]), by: client)
        stack.run(.query)
        stack.run(.query, .fetch, .decode, .transform)
        let held = try #require(stack.held(.transform).first)
        let info = ImageInfo(
            format: .pam, size: PixelSize(width: 20, height: 15), hasAlpha: hasAlpha)
        let reference = stack.block(of: theirs, length: UInt64(128 + 300 * bands))
        stack.finish(held, .transformed(EncodedImage(reference: reference, info: info)))
        let next = try #require(Self.transform(stack))
        #expect(next.work.layout.planes.map { Int($0.bands.rawValue) } == [bands])
        #expect(next.work.sourceInfo.hasAlpha == hasAlpha)
        stack.finishAll()
        #expect(stack.scheduler.isIdle && stack.faults == [])
    }

    @Test func aLostWorkerCostsItsLinkAndLostPixelsTheWholeResult() {
        var (stack, client, theirs) = Self.staffed()
        let token = stack.load(Self.image([Self.mark]), by: client)
        stack.run(.query)
        stack.run(.query, .fetch, .decode, .transform)
        stack.kill(theirs)
        #expect(stack.held(.decode).isEmpty && stack.held(.transform).isEmpty)
        stack.hire(.transform, pool: .steps)
        #expect(stack.held(.transform).count == 1, "the same pixels, another worker")

        // Blocks that built-in workers produced for it.
        let ours = stack.worker(.transform)
        stack.kill(ours)
        #expect(stack.held(.transform).isEmpty, "\(stack.held(.transform))")
        stack.hire(.transform, credit: 4)
        stack.finishAll()
        #expect(stack.image(token) != nil)
        #expect(stack.scheduler.isIdle && stack.faults == [])
    }

    @Test func eachLinkGetsWhatItLaysOver() throws {
        var (stack, client, _) = Self.staffed()
        let overlays = ["b", "c"].map {
            TransformStep.overlay(Overlay(url: ImageRequest.image($0).url))
        }
        let request = Self.image([overlays[0], Self.mark, overlays[1]])
        let token = stack.load(request, by: client)
        var counts: [Int] = []
        repeat {
            while let held = stack.allHeld.first {
                if case .transform(let work) = held.job.work { counts.append(work.overlays.count) }
                stack.finish(held)
            }
            stack.goOn()
        } while !stack.allHeld.isEmpty
        #expect(counts == [1, 0, 1])
        #expect(stack.image(token) != nil)
        #expect(stack.scheduler.isIdle && stack.faults == [])
    }

    /// Output waiting for external workers doesn't count as output that built-in jobs wait for:
    /// with any budget, a chain continues as long as its jobs complete.
    @Test func linksFindSpaceWhateverOthersHold() {
        var (stack, client, _) = Self.staffed {
            $0.dispatch.outputBytesMax.transform = 1_000
            $0.dispatch.outputBytesMax.decode = 1 << 20
        }
        let tokens = (0..<40).map { number in
            stack.load(
                Self.image([Self.mark, Self.turn, Self.tone], name: "n\(number)"), by: client)
        }
        stack.finishAll()
        let codes = tokens.map { stack.error($0) }
        #expect(codes.allSatisfy { $0 == nil || $0 == .busy }, "\(codes)")
        #expect(codes.contains(nil))
        #expect(stack.scheduler.isIdle && stack.faults == [])
    }

    /// A chain without workers occupies the output budget of its stage, and others continue.
    @Test func aPoolWithoutWorkersKeepsNobodyElseWaiting() {
        var (stack, client, theirs) = Self.staffed {
            $0.dispatch.outputBytesMax.transform = 4_000
            $0.dispatch.outputBytesMax.decode = 1 << 20
        }
        stack.kill(theirs)
        let marked = (0..<12).map {
            stack.load(Self.image([Self.mark], name: "m\($0)"), by: client)
        }
        let plain = (0..<12).map { stack.load(Self.image([], name: "p\($0)"), by: client) }
        stack.finishAll()
        #expect(plain.allSatisfy { stack.image($0) != nil })
        #expect(marked.count { stack.error($0) == .busy } == 9)
        stack.hire(.transform, credit: 2, pool: .steps)
        stack.finishAll()
        #expect(marked.count { stack.image($0) != nil } == 3)
        #expect(stack.scheduler.isIdle && stack.faults == [])
    }

    // MARK: - Limitations of plug-in steps

    @Test func animationsBecomeStillsAndNothingIsKeptBesideThePixels() {
        var request = ImageRequest.image().with {
            $0.options = .transformAnimatedImage
            $0.output.format = .webp
        }
        #expect(request.animates)
        request.steps = [Self.mark]
        #expect(!request.animates)
        #expect(KeptParts(request).isEmpty)
    }

    @Test func whatWouldBeLostIsRefused() {
        var (stack, client, _) = Self.staffed()
        let request = Self.image([Self.mark]).with { $0.output.keepsProfile = true }
        let token = stack.load(request, by: client)
        #expect(stack.error(token) == .invalidRequest)
        #expect(stack.allHeld.isEmpty && stack.faults == [])
    }

    @Test func aSerializerEncodesWhatTheyMade() {
        var (stack, client, _) = Self.staffed()
        let request = Self.image([Self.mark]).with {
            $0.context.serializer = .transcode(.png, quality: nil)
        }
        let token = stack.load(request, by: client)
        var links = 0
        repeat {
            while let held = stack.allHeld.first {
                if case .transform(let work) = held.job.work, work.steps.contains(Self.mark) {
                    links += 1
                }
                stack.finish(held)
            }
            stack.goOn()
        } while !stack.allHeld.isEmpty
        #expect(links == 1, "it was asked once")
        #expect(stack.image(token) != nil)
        #expect(stack.scheduler.isIdle && stack.faults == [])
    }
}
