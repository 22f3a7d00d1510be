import Model
import Testing

@testable import Wire

/// Each rule of the other messages, violated by hand or by value.
@Suite struct MessageLimitTests {
    private static let reference = ProtobufBytes().number(3, 1).number(5, 10).number(6, 9)
    private static let info = ProtobufBytes().number(2, 1).number(3, 1).number(4, 1)

    private static func hello(_ list: UInt64, _ names: ProtobufBytes) -> ProtobufBytes {
        ProtobufBytes().bytes(1, [UInt8](repeating: 1, count: 16))
            .message(8, ProtobufBytes().message(list, names))
    }

    private static func outcome(_ field: UInt64, _ result: ProtobufBytes) -> ProtobufBytes {
        ProtobufBytes().number(1, 1).number(2, 1).message(field, result)
    }

    static func layout(
        bands: UInt64 = 3, offset: UInt64 = 0, width: UInt64 = 2, stride: UInt64 = 6,
        active: Double = 2, planes: Int = 1, orientation: UInt64 = 1
    ) -> ProtobufBytes {
        let plane = ProtobufBytes().number(1, bands).number(2, offset).number(3, width)
            .number(4, 1).number(5, stride).double(6, active).double(7, 1)
        return ProtobufBytes().repeating(planes) { $0.message(1, plane) }.number(2, orientation)
    }

    static func pixels(_ layout: ProtobufBytes, frames: Int = 1) -> ProtobufBytes {
        let frame = ProtobufBytes().message(1, reference).message(2, layout)
        return outcome(
            12, ProtobufBytes().message(1, info).repeating(frames) { $0.message(2, frame) })
    }

    private static func decode(framesMax: UInt64) -> ProtobufBytes {
        job(
            11,
            ProtobufBytes().message(1, reference)
                .message(2, ProtobufBytes().message(2, ProtobufBytes()))
                .message(3, ProtobufBytes()).number(4, framesMax))
    }

    struct Case: CustomTestStringConvertible {
        let testDescription: String
        let kind: MessageKind
        let body: ProtobufBytes
        let fault: FieldError

        init(
            _ name: String, _ kind: MessageKind, _ body: ProtobufBytes, _ field: String,
            _ problem: FieldError.Problem
        ) {
            (testDescription, self.kind, self.body) = (name, kind, body)
            fault = FieldError(field: field, problem: problem)
        }
    }

    static let workerCases: [Case] = [
        Case(
            "an incarnation of 15 bytes", .workerHello,
            ProtobufBytes().bytes(1, [UInt8](repeating: 1, count: 15)), "WorkerHello.incarnation",
            .notAnIdentifier),
        Case(
            "a version of 1,025 bytes", .workerHello,
            ProtobufBytes().bytes(1, [UInt8](repeating: 1, count: 16)).text(
                4, String(repeating: "v", count: 1_025)), "WorkerHello.version",
            .tooLong(limit: 1_024)),
        Case(
            "65 formats", .workerHello,
            hello(2, ProtobufBytes().repeating(65) { $0.text(1, "a") }),
            "Capabilities.formats_in", .tooMany(limit: 64)),
        Case(
            "a step of 65 bytes", .workerHello,
            hello(4, ProtobufBytes().text(1, String(repeating: "s", count: 65))),
            "Capabilities.steps", .tooLong(limit: 64)),
        Case(
            "a scheme with a space", .workerHello, hello(1, ProtobufBytes().text(1, "a b")),
            "Capabilities.schemes", .unknownValue),
        Case(
            "a format without a name", .workerHello, hello(3, ProtobufBytes().text(1, "")),
            "Capabilities.formats_out", .unknownValue),
        Case(
            "a step twice", .workerHello,
            hello(4, ProtobufBytes().text(1, "s").text(1, "s")), "Capabilities.steps", .duplicate),
        Case(
            "257 segments", .segmentsOpened,
            ProtobufBytes().repeating(257) { $0.message(1, ProtobufBytes()) }, "Segments.segments",
            .tooMany(limit: 256)),
        Case(
            "a third arena", .segmentsClosed,
            ProtobufBytes().message(1, ProtobufBytes().number(1, 2)), "Segment.arena", .unknownValue
        ),
        Case(
            "1,025 ids", .evicted, ProtobufBytes().repeating(1_025) { $0.number(1, 5) },
            "Evicted.blocks", .tooMany(limit: 1_024)),
        Case("block 0", .evicted, ProtobufBytes().number(1, 0), "Evicted.blocks", .outOfRange),
        Case(
            "a fourth state", .cacheStatus, ProtobufBytes().number(3, 3), "CacheStatus.disk",
            .unknownValue),
        Case(
            "a fifth reason", .goodbye, ProtobufBytes().number(1, 4), "Goodbye.reason",
            .unknownValue),
        Case(
            "progress of job 0", .progress, ProtobufBytes().number(2, 1), "Progress.id", .outOfRange
        ),
        Case(
            "an outcome of job 0", .outcome,
            ProtobufBytes().number(2, 1).message(10, ProtobufBytes()), "Outcome.id", .outOfRange),
        Case(
            "an outcome of attempt 0", .outcome,
            ProtobufBytes().number(1, 1).message(10, ProtobufBytes()), "Outcome.attempt",
            .outOfRange),
        Case(
            "an outcome without a result", .outcome, ProtobufBytes().number(1, 1).number(2, 1),
            "Outcome.result", .missing),
        Case(
            "an image without a reference", .outcome, outcome(13, ProtobufBytes().message(2, info)),
            "EncodedImage.reference", .missing),
        Case(
            "a reference to block 0", .outcome,
            outcome(13, ProtobufBytes().message(1, ProtobufBytes().number(5, 1)).message(2, info)),
            "Reference.block", .outOfRange),
        Case(
            "a range that overflows", .outcome,
            outcome(
                13,
                ProtobufBytes().message(
                    1, ProtobufBytes().number(4, .max).number(5, 1).number(6, 1)
                ).message(2, info)), "Reference.length", .outOfRange),
        Case(
            "a producer without a name", .outcome,
            outcome(
                13,
                ProtobufBytes().message(1, reference.message(1, ProtobufBytes().number(1, 2)))
                    .message(2, info)), "Producer.incarnation", .notAnIdentifier),
        Case(
            "a fifth stage as producer", .outcome,
            outcome(
                13,
                ProtobufBytes().message(1, reference.message(1, ProtobufBytes().number(1, 5)))
                    .message(2, info)), "Producer.kind", .unknownValue),
        Case(
            "no pages", .outcome,
            outcome(
                13, ProtobufBytes().message(1, reference).message(2, ProtobufBytes().number(2, 1))),
            "ImageInfo.pages", .outOfRange),
        Case(
            "a still of one frame", .outcome,
            outcome(13, ProtobufBytes().message(1, reference).message(2, info.number(6, 1))),
            "ImageInfo.still_of", .outOfRange),
        Case(
            "a format that does not exist", .outcome,
            outcome(13, ProtobufBytes().message(1, reference).message(2, info.number(1, 11))),
            "ImageInfo.format", .unknownValue),
        Case(
            "a status of 65,536", .outcome,
            outcome(8, ProtobufBytes().message(1, reference).number(2, 65_536)),
            "FetchedBody.http_status", .outOfRange),
        Case(
            "a content type of 1,025 bytes", .outcome,
            outcome(
                8,
                ProtobufBytes().message(1, reference)
                    .text(3, String(repeating: "t", count: 1_025))),
            "FetchedBody.content_type", .tooLong(limit: 1_024)),
        Case(
            "an error of no code", .outcome, outcome(14, ProtobufBytes().text(2, "?")),
            "Error.code", .unknownValue),
        Case(
            "an error message of 1,025 bytes", .outcome,
            outcome(
                14, ProtobufBytes().number(1, 3000).text(2, String(repeating: "m", count: 1_025))),
            "Error.message", .tooLong(limit: 1_024)),
        Case(
            "17 details", .outcome,
            outcome(
                14, ProtobufBytes().number(1, 3000).repeating(17) { $0.message(3, ProtobufBytes()) }
            ), "Error.details", .tooMany(limit: 16)),
        Case(
            "the same detail twice", .outcome,
            outcome(
                14,
                ProtobufBytes().number(1, 3000).repeating(2) {
                    $0.message(3, ProtobufBytes().text(1, "a"))
                }), "Error.details", .duplicate),
        Case(
            "a detail of 1,025 bytes", .outcome,
            outcome(
                14,
                ProtobufBytes().number(1, 3000).message(
                    3, ProtobufBytes().text(1, "abcd").text(2, String(repeating: "v", count: 1_021))
                )), "Detail.value", .tooLong(limit: 1_020)),
        Case("no bands", .outcome, pixels(layout(bands: 0)), "PixelPlane.bands", .unknownValue),
        Case(
            "rows shorter than their columns", .outcome, pixels(layout(stride: 5)),
            "PixelPlane.stride", .outOfRange),
        Case(
            "no columns", .outcome, pixels(layout(width: 0, active: 0)), "PixelPlane.stride",
            .outOfRange),
        Case(
            "a stride beyond an Int", .outcome, pixels(layout(stride: .max)), "PixelPlane.stride",
            .outOfRange),
        Case(
            "more image than columns", .outcome, pixels(layout(active: 2.01)),
            "PixelPlane.active", .outOfRange),
        Case(
            "a column less of image", .outcome, pixels(layout(active: 1)),
            "PixelPlane.active", .outOfRange),
        Case(
            "a width that is not a number", .outcome, pixels(layout(active: .nan)),
            "PixelPlane.active_width", .outOfRange),
        Case(
            "no planes", .outcome, pixels(layout(planes: 0)), "PixelLayout.planes", .outOfRange),
        Case(
            "two planes", .outcome, pixels(layout(bands: 1, planes: 2)), "PixelLayout.planes",
            .outOfRange),
        Case(
            "three planes of three bands", .outcome, pixels(layout(planes: 3)),
            "PixelLayout.planes", .outOfRange),
        Case(
            "four planes", .outcome, pixels(layout(bands: 1, planes: 4)), "PixelLayout.planes",
            .tooMany(limit: 3)),
        Case(
            "orientation 0", .outcome, pixels(layout(orientation: 0)), "PixelLayout.orientation",
            .outOfRange),
        Case(
            "orientation 9", .outcome, pixels(layout(orientation: 9)), "PixelLayout.orientation",
            .outOfRange),
        Case(
            "an offset beyond an Int", .outcome, pixels(layout(offset: .max)), "PixelPlane.offset",
            .outOfRange),
        Case(
            "an offset at the end of an Int", .outcome,
            pixels(layout(offset: UInt64(Int.max))), "PixelLayout.planes", .outOfRange),
        Case(
            "pixels beyond their block", .outcome, pixels(layout(stride: 11)), "Frame.layout",
            .outOfRange),
        Case(
            "65 frames", .outcome, pixels(layout(), frames: 65), "DecodedImage.frames",
            .tooMany(limit: 64)),
        Case(
            "a frame that lies nowhere", .outcome,
            outcome(12, ProtobufBytes().message(1, info).message(2, ProtobufBytes())),
            "Frame.reference", .missing),
        Case(
            "a key of 12,289 bytes", .stored,
            ProtobufBytes().text(1, String(repeating: "k", count: 12_289)), "Stored.key",
            .tooLong(limit: 12_288)),
    ]

    @Test(arguments: workerCases)
    func aBrokenRuleOfAWorkerIsNamed(_ broken: Case) throws {
        let frames = Frames(header: FrameHeader(kind: broken.kind).bytes, body: broken.body.bytes)
        #expect(throws: WireError.field(broken.fault, token: nil)) { try frames.workerMessage() }
    }

    private static func job(_ field: UInt64, _ work: ProtobufBytes) -> ProtobufBytes {
        ProtobufBytes().number(1, 1).number(2, 1).message(field, work)
    }

    static let commandCases: [Case] = [
        Case(
            "a beginning with all frames", .job,
            job(
                11,
                ProtobufBytes().message(1, reference)
                    .message(2, ProtobufBytes().message(2, ProtobufBytes()))
                    .message(3, ProtobufBytes()).number(8, 1).number(9, 1)), "Decode.is_partial",
            .outOfRange),
        Case("job 0", .job, ProtobufBytes().number(2, 1), "Job.id", .outOfRange),
        Case("attempt 0", .job, ProtobufBytes().number(1, 1), "Job.attempt", .outOfRange),
        Case(
            "a job without work", .job, ProtobufBytes().number(1, 1).number(2, 1), "Job.work",
            .missing),
        Case(
            "a class that does not exist", .job, job(9, ProtobufBytes()).number(4, 3),
            "Job.priority", .unknownValue),
        Case(
            "4,098 bytes of sources", .job,
            job(
                8,
                ProtobufBytes().text(1, "http://h/").repeating(2) {
                    $0.text(5, String(repeating: "s", count: 2_049))
                }), "Fetch.sources", .tooLong(limit: 4_096)),
        Case(
            "a destination that does not exist", .job, job(9, ProtobufBytes().number(3, 2)),
            "Query.destination", .unknownValue),
        Case(
            "tiers that do not exist", .job, job(9, ProtobufBytes().number(2, 8)), "Query.tiers",
            .unknownValue),
        Case("a decode of nothing", .job, job(11, ProtobufBytes()), "Decode.source", .missing),
        Case(
            "a decode without a need", .job,
            job(11, ProtobufBytes().message(1, reference).message(2, ProtobufBytes())), "Need.need",
            .missing),
        Case(
            "a decode without limits", .job,
            job(
                11,
                ProtobufBytes().message(1, reference).message(
                    2, ProtobufBytes().message(1, ProtobufBytes()))), "Decode.limits", .missing),
        Case(
            "limits beyond an Int", .job,
            job(
                11,
                ProtobufBytes().message(1, reference).message(
                    2, ProtobufBytes().message(1, ProtobufBytes())
                ).message(3, ProtobufBytes().number(2, .max))), "Limits.pixels_max", .outOfRange),
        Case(
            "a decode of no frame", .job, decode(framesMax: 0), "Decode.frames_max", .outOfRange),
        Case(
            "a decode of 65 frames", .job, decode(framesMax: 65), "Decode.frames_max",
            .outOfRange),
        Case(
            "a store without facts", .job, job(10, ProtobufBytes().message(2, reference)),
            "Store.metadata", .missing),
        Case(
            "a welcome without an epoch", .workerWelcome, ProtobufBytes(), "WorkerWelcome.epoch",
            .notAnIdentifier),
        Case("cancelling job 0", .cancelJob, ProtobufBytes(), "CancelJob.id", .outOfRange),
        Case(
            "releasing 1,025 blocks", .release,
            ProtobufBytes().bytes(1, [UInt8](repeating: 1, count: 1_025)), "Release.blocks",
            .tooMany(limit: 1_024)),
        Case(
            "touching block 0", .touched, ProtobufBytes().bytes(1, [0]), "Touched.blocks",
            .outOfRange),
        Case("a refusal without an error", .refused, ProtobufBytes(), "Refused.error", .missing),
    ]

    @Test(arguments: commandCases)
    func aBrokenRuleOfACommandIsNamed(_ broken: Case) throws {
        let frames = Frames(header: FrameHeader(kind: broken.kind).bytes, body: broken.body.bytes)
        #expect(throws: WireError.field(broken.fault, token: nil)) { try frames.workerCommand() }
    }

    private static let token = [UInt8](repeating: 7, count: 16)

    static let serverCases: [Case] = [
        Case(
            "an event of no kind", .event, ProtobufBytes().bytes(1, token), "Event.event",
            .missing),
        Case(
            "a reply without an outcome", .reply, ProtobufBytes().bytes(1, token), "Reply.outcome",
            .missing),
        Case(
            "a reply to nobody", .reply, ProtobufBytes().text(4, "k"), "Reply.token",
            .notAnIdentifier),
        Case(
            "an endless time", .reply,
            ProtobufBytes().bytes(1, token).text(4, "k").message(
                2, ProtobufBytes().double(7, .infinity)), "Timings.total", .outOfRange),
        Case(
            "an image without facts", .reply,
            ProtobufBytes().bytes(1, token).message(3, ProtobufBytes()), "DeliveredImage.info",
            .missing),
        Case(
            "a third stored tier", .reply,
            ProtobufBytes().bytes(1, token).message(
                3, ProtobufBytes().message(2, info).number(5, 4)), "DeliveredImage.stored_tiers",
            .unknownValue),
        Case(
            "513 counters", .statusReport,
            ProtobufBytes().repeating(513) { $0.message(3, ProtobufBytes()) },
            "StatusReport.counters", .tooMany(limit: 512)),
        Case(
            "a refusal of half a token", .refused,
            ProtobufBytes().message(1, ProtobufBytes().number(1, 3000)).bytes(
                2, [1, 2, 3, 4, 5, 6, 7, 8]), "Refused.token", .notAnIdentifier),
    ]

    @Test(arguments: serverCases)
    func aBrokenRuleOfAReplyIsNamed(_ broken: Case) throws {
        let frames = Frames(header: FrameHeader(kind: broken.kind).bytes, body: broken.body.bytes)
        #expect(throws: WireError.field(broken.fault, token: nil)) { try frames.serverMessage() }
    }

    @Test func aCancelNamesOneTarget() throws {
        let fault = FieldError(field: "Cancel.target", problem: .missing)
        #expect(throws: WireError.field(fault, token: nil)) {
            try Frames(header: FrameHeader(kind: .cancel).bytes, body: []).clientMessage()
        }
    }

    @Test func bodiesHaveTheLimitOfTheirSockets() throws {
        let back = [UInt8](repeating: 0, count: MessageLimits.backFrameBytesMax + 1)
        let front = [UInt8](repeating: 0, count: MessageLimits.frontFrameBytesMax + 1)
        #expect(throws: WireError.tooLarge(limit: 32_768)) {
            try Frames(header: FrameHeader(kind: .outcome).bytes, body: back).workerMessage()
        }
        #expect(throws: WireError.tooLarge(limit: 32_768)) {
            try Frames(header: FrameHeader(kind: .job).bytes, body: back).workerCommand()
        }
        #expect(throws: WireError.malformed) {
            try Frames(header: FrameHeader(kind: .load).bytes, body: back).clientMessage()
        }
        #expect(throws: WireError.tooLarge(limit: 98_304)) {
            try Frames(header: FrameHeader(kind: .load).bytes, body: front).clientMessage()
        }
        #expect(throws: WireError.tooLarge(limit: 98_304)) {
            try Frames(header: FrameHeader(kind: .reply).bytes, body: front).serverMessage()
        }
    }

    /// Without a frame selection, one frame is requested.
    @Test func aDecodeIsOfOneFrameUnlessMoreAreAskedFor() throws {
        func read(_ frames: Frames) throws -> Int? {
            guard case .job(let job) = try frames.workerCommand(), case .decode(let work) = job.work
            else { return nil }
            return work.framesMax
        }
        func read(_ body: ProtobufBytes) throws -> Int? {
            try read(Frames(header: FrameHeader(kind: .job).bytes, body: body.bytes))
        }
        func written(_ framesMax: Int) throws -> Frames {
            let work = DecodeWork(
                source: BlockReference(segment: 0, offset: 0, length: 1, block: BlockID(1)),
                need: .full, limits: ImageLimits(), framesMax: framesMax)
            return try Frames(
                WorkerCommand.job(
                    Job(
                        id: JobID(1), attempt: 1, work: .decode(work), millisecondsLeft: 1,
                        priority: .normal)))
        }
        let usual = ProtobufBytes().message(1, Self.reference)
            .message(2, ProtobufBytes().message(2, ProtobufBytes())).message(3, ProtobufBytes())
        #expect(try read(Self.job(11, usual)) == 1)
        for most in [1, 2, 64] {
            #expect(try read(Self.decode(framesMax: UInt64(most))) == most)
            #expect(try read(written(most)) == most)
        }
        #expect(try written(2).body.count == written(1).body.count + 2, "one is not written")
        for most in [0, 65] {
            let fault = FieldError(field: "Decode.frames_max", problem: .outOfRange)
            #expect(throws: WireError.field(fault, token: nil)) { try written(most) }
        }
    }

    @Test func anOutcomeWithTheMostAndLargestBlocksFitsFrameAndQuota() throws {
        let size = PixelSize(width: 1 << 30, height: 1 << 30)
        let plane = PixelPlane(bands: .gray, offset: 1 << 61, size: size, stride: 1 << 31)
        let layout = PixelLayout(
            planes: [plane, plane, plane], orientation: Orientation(exif: 8))
        let pool = String(repeating: "p", count: PoolName.bytesMax)
        let producer = BlockReference.Producer(
            kind: .decode, incarnation: Incarnation(Identifier128(high: .max, low: .max)),
            pool: PoolName(pool))
        let most = MessageLimits.blocksPerOutcomeMax
        let frames = (0..<most).map { index in
            DecodedImage.Frame(
                reference: BlockReference(
                    producer: producer, arena: .results, segment: .max, offset: 1 << 63,
                    length: 1 << 63 - 1, block: BlockID(.max - UInt64(index))), layout: layout)
        }
        let info = ImageInfo(
            format: .gif, size: size, pages: Int(UInt32.max), hasAlpha: true,
            stillOf: Int(UInt32.max))
        let message = WorkerMessage.outcome(
            JobOutcome(
                id: JobID(.max), attempt: .max,
                result: .decoded(DecodedImage(info: info, frames: frames)),
                workMicroseconds: .max))
        let sent = try Frames(message)
        #expect(sent.body.count < MessageLimits.backFrameBytesMax)
        #expect(try sent.workerMessage() == message)
    }

    @Test func theLargestErrorIsCutUntilItTravels() throws {
        let long = String(repeating: "é", count: 2_000)
        let details = (0..<40).map { ("\($0 + 10)" + long, long + "\0") }
        var error = ImageError(
            .stepFailed, "a\0b" + long, details: Dictionary(uniqueKeysWithValues: details))
        error.external = ExternalFailure(domain: "D" + long, code: .min, blocks: true)
        let outcome = JobOutcome(
            id: JobID(1), attempt: 1, result: .failed(error), workMicroseconds: 0)
        guard case .outcome(let received) = try Frames(.outcome(outcome)).workerMessage(),
            case .failed(let cut) = received.result
        else { return #expect(Bool(false), "an outcome arrives as one") }
        #expect(cut.code == .stepFailed)
        #expect(cut.message.hasPrefix("a bé"))
        #expect(cut.message.utf8.count == 1_023)
        #expect(cut.details.count == 16)
        #expect(cut.details.keys.allSatisfy { $0.utf8.count == 1_024 })
        #expect(cut.details.values.allSatisfy { $0.isEmpty })
        #expect(cut.external?.domain.utf8.count == 127 && cut.external?.code == .min)
        #expect(cut.external?.blocks == true)
    }
}
