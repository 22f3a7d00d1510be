import Model
import Testing

@testable import Wire

/// Each rule of the other messages, violated by hand or by value.
@Suite struct MessageLimitTests {
    private typealias Bytes = ProtobufBytes

    private static let identifier = [UInt8](repeating: 7, count: 16)

    private static func hello(_ list: UInt64, _ names: [String]) -> Bytes {
        let names = names.reduce(Bytes.none) { $0.text(1, $1) }
        return Bytes.none.bytes(1, identifier).message(8, .none.message(list, names))
    }

    private static func image(
        _ reference: Bytes = .reference, info: Bytes = .info
    ) -> Bytes {
        .outcome(13, .none.message(1, reference).message(2, info))
    }

    private static func body(_ rest: (Bytes) -> Bytes) -> Bytes {
        .outcome(8, rest(.none.message(1, .reference)))
    }

    private static func failure(_ rest: (Bytes) -> Bytes) -> Bytes {
        .outcome(14, rest(.none.number(1, 3000)))
    }

    /// Rules of what a worker sends, except for those of outcomes.
    static let workerCases: [BrokenRule] = [
        BrokenRule(
            "an incarnation of 15 bytes", .workerHello, .none.bytes(1, identifier.dropLast()),
            "WorkerHello.incarnation", .notAnIdentifier),
        BrokenRule(
            "a version of 1,025 bytes", .workerHello,
            .none.bytes(1, identifier).text(4, long(1_025)), "WorkerHello.version",
            .tooLong(limit: 1_024)),
        BrokenRule(
            "65 formats", .workerHello, hello(2, Array(repeating: "a", count: 65)),
            "Capabilities.formats_in", .tooMany(limit: 64)),
        BrokenRule(
            "a step of 65 bytes", .workerHello, hello(4, [long(65)]), "Capabilities.steps",
            .tooLong(limit: 64)),
        BrokenRule(
            "a scheme with a space", .workerHello, hello(1, ["a b"]), "Capabilities.schemes",
            .unknownValue),
        BrokenRule(
            "a format without a name", .workerHello, hello(3, [""]), "Capabilities.formats_out",
            .unknownValue),
        BrokenRule(
            "a step twice", .workerHello, hello(4, ["s", "s"]), "Capabilities.steps", .duplicate),
        BrokenRule(
            "257 segments", .segmentsOpened, .none.repeating(257) { $0.message(1, .none) },
            "Segments.segments", .tooMany(limit: 256)),
        BrokenRule(
            "a third arena", .segmentsClosed, .none.message(1, .none.number(1, 2)),
            "Segment.arena", .unknownValue),
        BrokenRule(
            "1,025 ids", .evicted, .none.repeating(1_025) { $0.number(1, 5) }, "Evicted.blocks",
            .tooMany(limit: 1_024)),
        BrokenRule("block 0", .evicted, .none.number(1, 0), "Evicted.blocks"),
        BrokenRule(
            "a fourth state", .cacheStatus, .none.number(3, 3), "CacheStatus.disk", .unknownValue),
        BrokenRule(
            "a fifth reason", .goodbye, .none.number(1, 4), "Goodbye.reason", .unknownValue),
        BrokenRule("progress of job 0", .progress, .none.number(2, 1), "Progress.id"),
        BrokenRule(
            "a key of 12,289 bytes", .stored, .none.text(1, long(12_289)), "Stored.key",
            .tooLong(limit: 12_288)),
    ]

    private static func outcome(
        _ name: String, _ body: Bytes, _ field: String, _ problem: FieldError.Problem = .outOfRange
    ) -> BrokenRule {
        BrokenRule(name, .outcome, body, field, problem)
    }

    static let outcomeCases: [BrokenRule] = [
        outcome("an outcome of job 0", .none.number(2, 1).message(10, .none), "Outcome.id"),
        outcome(
            "an outcome of attempt 0", .none.number(1, 1).message(10, .none), "Outcome.attempt"),
        outcome(
            "an outcome without a result", .none.number(1, 1).number(2, 1), "Outcome.result",
            .missing),
        outcome(
            "an image without a reference", .outcome(13, .none.message(2, .info)),
            "EncodedImage.reference", .missing),
        outcome("a reference to block 0", image(.none.number(5, 1)), "Reference.block"),
        outcome(
            "a range that overflows", image(.none.number(4, .max).number(5, 1).number(6, 1)),
            "Reference.length"),
        outcome(
            "a producer without a name", image(.reference.message(1, .none.number(1, 2))),
            "Producer.incarnation", .notAnIdentifier),
        outcome(
            "a fifth stage as producer", image(.reference.message(1, .none.number(1, 5))),
            "Producer.kind", .unknownValue),
        outcome("no pages", image(info: .none.number(2, 1)), "ImageInfo.pages"),
        outcome("a still of one frame", image(info: .info.number(6, 1)), "ImageInfo.still_of"),
        outcome(
            "a format that does not exist", image(info: .info.number(1, 11)), "ImageInfo.format",
            .unknownValue),
        outcome(
            "a status of 65,536", body { $0.number(2, 65_536) }, "FetchedBody.http_status"),
        outcome(
            "a content type of 1,025 bytes", body { $0.text(3, long(1_025)) },
            "FetchedBody.content_type", .tooLong(limit: 1_024)),
        outcome(
            "an error of no code", .outcome(14, .none.text(2, "?")), "Error.code", .unknownValue),
        outcome(
            "an error message of 1,025 bytes", failure { $0.text(2, long(1_025)) },
            "Error.message", .tooLong(limit: 1_024)),
        outcome(
            "17 details", failure { $0.repeating(17) { $0.message(3, .none) } }, "Error.details",
            .tooMany(limit: 16)),
        outcome(
            "the same detail twice",
            failure { $0.repeating(2) { $0.message(3, .none.text(1, "a")) } }, "Error.details",
            .duplicate),
        outcome(
            "a detail of 1,025 bytes",
            failure { $0.message(3, .none.text(1, "abcd").text(2, long(1_021))) }, "Detail.value",
            .tooLong(limit: 1_020)),
        outcome(
            "a frame that lies nowhere",
            .outcome(12, .none.message(1, .info).message(2, .none)), "Frame.reference", .missing),
        outcome(
            "65 frames", .pixels(.layout(), frames: 65), "DecodedImage.frames",
            .tooMany(limit: 64)),
    ]

    private static func layout(
        _ name: String, _ layout: Bytes, _ field: String,
        _ problem: FieldError.Problem = .outOfRange
    ) -> BrokenRule {
        BrokenRule(name, .outcome, .pixels(layout), field, problem)
    }

    static let layoutCases: [BrokenRule] = [
        layout("no bands", .layout(bands: 0), "PixelPlane.bands", .unknownValue),
        layout("rows shorter than their columns", .layout(stride: 5), "PixelPlane.stride"),
        layout("no columns", .layout(width: 0, active: 0), "PixelPlane.stride"),
        layout("a stride beyond an Int", .layout(stride: .max), "PixelPlane.stride"),
        layout("more image than columns", .layout(active: 2.01), "PixelPlane.active"),
        layout("a column less of image", .layout(active: 1), "PixelPlane.active"),
        layout("a width that is not a number", .layout(active: .nan), "PixelPlane.active_width"),
        layout("no planes", .layout(planes: 0), "PixelLayout.planes"),
        layout("two planes", .layout(bands: 1, planes: 2), "PixelLayout.planes"),
        layout("three planes of three bands", .layout(planes: 3), "PixelLayout.planes"),
        layout(
            "four planes", .layout(bands: 1, planes: 4), "PixelLayout.planes", .tooMany(limit: 3)),
        layout("orientation 0", .layout(orientation: 0), "PixelLayout.orientation"),
        layout("orientation 9", .layout(orientation: 9), "PixelLayout.orientation"),
        layout("an offset beyond an Int", .layout(offset: .max), "PixelPlane.offset"),
        layout(
            "an offset at the end of an Int", .layout(offset: UInt64(Int.max)),
            "PixelLayout.planes"),
        layout("pixels beyond their block", .layout(stride: 11), "Frame.layout"),
    ]

    @Test(arguments: workerCases + outcomeCases + layoutCases)
    func aBrokenRuleOfAWorkerIsNamed(_ broken: BrokenRule) {
        broken.isReported { try $0.workerMessage() }
    }

    private static func job(_ field: UInt64, _ work: Bytes) -> Bytes {
        .none.number(1, 1).number(2, 1).message(field, work)
    }

    /// A decode that is complete.
    private static let wholeDecode = Bytes.none.message(1, .reference)
        .message(2, .none.message(2, .none)).message(3, .none)

    private static func decode(framesMax: UInt64) -> Bytes {
        job(11, wholeDecode.number(4, framesMax))
    }

    static let commandCases: [BrokenRule] = [
        BrokenRule(
            "a beginning with all frames", .job, job(11, wholeDecode.number(8, 1).number(9, 1)),
            "Decode.is_partial"),
        BrokenRule("job 0", .job, .none.number(2, 1), "Job.id"),
        BrokenRule("attempt 0", .job, .none.number(1, 1), "Job.attempt"),
        BrokenRule(
            "a job without work", .job, .none.number(1, 1).number(2, 1), "Job.work", .missing),
        BrokenRule(
            "a class that does not exist", .job, job(9, .none).number(4, 3), "Job.priority",
            .unknownValue),
        BrokenRule(
            "4,098 bytes of sources", .job,
            job(8, .none.text(1, "http://h/").repeating(2) { $0.text(5, long(2_049)) }),
            "Fetch.sources", .tooLong(limit: 4_096)),
        BrokenRule(
            "a destination that does not exist", .job, job(9, .none.number(3, 2)),
            "Query.destination", .unknownValue),
        BrokenRule(
            "tiers that do not exist", .job, job(9, .none.number(2, 8)), "Query.tiers",
            .unknownValue),
        BrokenRule("a decode of nothing", .job, job(11, .none), "Decode.source", .missing),
        BrokenRule(
            "a decode without a need", .job,
            job(11, .none.message(1, .reference).message(2, .none)), "Need.need", .missing),
        BrokenRule(
            "a decode without limits", .job,
            job(11, .none.message(1, .reference).message(2, .none.message(1, .none))),
            "Decode.limits", .missing),
        BrokenRule(
            "limits beyond an Int", .job,
            job(
                11,
                .none.message(1, .reference).message(2, .none.message(2, .none))
                    .message(3, .none.number(2, .max))),
            "Limits.pixels_max"),
        BrokenRule("a decode of no frame", .job, decode(framesMax: 0), "Decode.frames_max"),
        BrokenRule("a decode of 65 frames", .job, decode(framesMax: 65), "Decode.frames_max"),
        BrokenRule(
            "a store without facts", .job, job(10, .none.message(2, .reference)),
            "Store.metadata", .missing),
        BrokenRule(
            "a welcome without an epoch", .workerWelcome, .none, "WorkerWelcome.epoch",
            .notAnIdentifier),
        BrokenRule("cancelling job 0", .cancelJob, .none, "CancelJob.id"),
        BrokenRule(
            "releasing 1,025 blocks", .release,
            .none.bytes(1, [UInt8](repeating: 1, count: 1_025)), "Release.blocks",
            .tooMany(limit: 1_024)),
        BrokenRule("touching block 0", .touched, .none.bytes(1, [0]), "Touched.blocks"),
        BrokenRule("a refusal without an error", .refused, .none, "Refused.error", .missing),
    ]

    @Test(arguments: commandCases)
    func aBrokenRuleOfACommandIsNamed(_ broken: BrokenRule) {
        broken.isReported { try $0.workerCommand() }
    }

    private static let answer = Bytes.none.bytes(1, identifier)

    static let serverCases: [BrokenRule] = [
        BrokenRule("an event of no kind", .event, answer, "Event.event", .missing),
        BrokenRule("a reply without an outcome", .reply, answer, "Reply.outcome", .missing),
        BrokenRule(
            "a reply to nobody", .reply, .none.text(4, "k"), "Reply.token", .notAnIdentifier),
        BrokenRule(
            "an endless time", .reply,
            answer.text(4, "k").message(2, .none.double(7, .infinity)), "Timings.total"),
        BrokenRule(
            "an image without facts", .reply, answer.message(3, .none), "DeliveredImage.info",
            .missing),
        BrokenRule(
            "a third stored tier", .reply,
            answer.message(3, .none.message(2, .info).number(5, 4)),
            "DeliveredImage.stored_tiers", .unknownValue),
        BrokenRule(
            "513 counters", .statusReport, .none.repeating(513) { $0.message(3, .none) },
            "StatusReport.counters", .tooMany(limit: 512)),
        BrokenRule(
            "a refusal of half a token", .refused,
            .none.message(1, .none.number(1, 3000)).bytes(2, identifier.prefix(8)),
            "Refused.token", .notAnIdentifier),
    ]

    @Test(arguments: serverCases)
    func aBrokenRuleOfAReplyIsNamed(_ broken: BrokenRule) {
        broken.isReported { try $0.serverMessage() }
    }

    @Test func aCancelNamesOneTarget() throws {
        BrokenRule("a cancel of nothing", .cancel, .none, "Cancel.target", .missing)
            .isReported { try $0.clientMessage() }
    }

    @Test func bodiesHaveTheLimitOfTheirSockets() throws {
        func frames(_ kind: MessageKind, _ limit: Int) -> Frames {
            Frames(
                header: FrameHeader(kind: kind).bytes, body: Array(repeating: 0, count: limit + 1))
        }
        let (back, front) = (32_768, 98_304)
        #expect(throws: WireError.tooLarge(limit: back)) {
            try frames(.outcome, back).workerMessage()
        }
        #expect(throws: WireError.tooLarge(limit: back)) { try frames(.job, back).workerCommand() }
        #expect(throws: WireError.malformed) { try frames(.load, back).clientMessage() }
        #expect(throws: WireError.tooLarge(limit: front)) {
            try frames(.load, front).clientMessage()
        }
        #expect(throws: WireError.tooLarge(limit: front)) {
            try frames(.reply, front).serverMessage()
        }
    }

    /// Without a frame selection, one frame is requested.
    @Test func aDecodeIsOfOneFrameUnlessMoreAreAskedFor() throws {
        func read(_ frames: Frames) throws -> Int? {
            guard case .job(let job) = try frames.workerCommand(), case .decode(let work) = job.work
            else { return nil }
            return work.framesMax
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
        #expect(try read(Frames(.job, Self.job(11, Self.wholeDecode))) == 1)
        for most in [1, 2, 64] {
            #expect(try read(Frames(.job, Self.decode(framesMax: UInt64(most)))) == most)
            #expect(try read(written(most)) == most)
        }
        #expect(try written(2).body.count == written(1).body.count + 2, "one is not written")
        for most in [0, 65] {
            let refusal = WireError.field("Decode.frames_max", .outOfRange)
            #expect(throws: refusal) { try written(most) }
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
