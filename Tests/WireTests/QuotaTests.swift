import Model
import Testing

@testable import Wire

@Suite struct QuotaTests {
    /// The request within the limits that takes the most memory.
    private func largestLoad() -> LoadRequest {
        var request = ImageRequest(url: String(repeating: "u", count: RequestLimits.urlBytesMax))
        let value = String(repeating: "v", count: RequestLimits.headerBytesMax / 64 - 1)
        request.headers = Array(repeating: HTTPHeader(name: "h", value: value), count: 64)
        request.steps = Array(
            repeating: .crop(PixelRect(x: -1, y: -1, size: PixelSize(width: -1, height: -1))),
            count: RequestLimits.stepsMax)
        return LoadRequest(token: Token(Identifier128(high: 1, low: 1)), image: request)
    }

    @Test func theLargestMessagesFitTheQuota() throws {
        let load = ClientMessage.load(largestLoad())
        #expect(try Frames(load).clientMessage() == load)
        let release = WorkerCommand.release((1...1_024).map { BlockID(UInt64.max - $0) })
        #expect(try Frames(release).workerCommand() == release)
        var report = StatusReport()
        report.counters = (0..<512).map { .init(name: "counter \($0)", value: .max) }
        report.processes = (0..<512).map {
            .init(kind: .decode, pid: UInt32($0), state: "busy", restarts: 0, jobs: 1)
        }
        #expect(try Frames(.status(report)).serverMessage() == .status(report))
    }

    /// The report of a long-running stack with more processes than any real one.
    @Test func aReportWithEveryBucketFilledFitsFrameAndQuota() throws {
        let full = LatencyHistogram(
            counts: Dictionary(
                uniqueKeysWithValues: (0...LatencyHistogram.lastBucket).map {
                    ($0, UInt64(1) << 32)
                }), sum: .max)
        var report = StatusReport()
        report.requests = full
        for stage in ["store", "query", "fetch", "decode", "transform"] {
            report.stages.append(
                .init(
                    stage: stage, queued: 1, queuedCost: 1, running: 1, waits: full, works: full))
            report.cancellations.append(.init(stage: stage, hard: 1, durations: full))
        }
        report.transfers = TransferPhase.allCases.map {
            .init(phase: $0.rawValue, durations: full)
        }
        report.counters = (0..<150).map { .init(name: "counter number \($0)", value: .max) }
        report.processes = (0..<300).map {
            .init(kind: .decode, pid: UInt32($0), state: "draining", restarts: 1, jobs: 1)
        }
        let frames = try Frames(.status(report))
        #expect(frames.body.count < MessageLimits.frontFrameBytesMax)
        #expect(try frames.serverMessage() == .status(report))
    }

    @Test func aHistogramThatMakesNoSenseIsRefused() throws {
        func read(_ histogram: ProtobufBytes) throws -> ServerMessage {
            try Frames(.statusReport, .none.message(7, histogram)).serverMessage()
        }
        let fits = ProtobufBytes.none.bytes(1, [7, 9]).bytes(2, [1, 2]).number(3, 40)
        var expected = StatusReport()
        expected.requests = LatencyHistogram(counts: [7: 1, 9: 2], sum: 40)
        #expect(try read(fits) == .status(expected))
        for hostile in [
            ProtobufBytes.none.bytes(1, [7, 9]).bytes(2, [1]),
            ProtobufBytes.none.bytes(1, [7, 7]).bytes(2, [1, 2]),
            ProtobufBytes.none.bytes(1, [0x81, 0x03]).bytes(2, [1]),
        ] {
            #expect(throws: WireError.self) { try read(hostile) }
        }
    }

    @Test func aSmallBodyThatUnpacksLargeIsRefused() throws {
        // Two bytes each, more than fifty in memory.
        let image = ProtobufBytes.none.repeating(40_000) { $0.message(2, ProtobufBytes.none) }
        let body = ProtobufBytes.none.bytes(1, [UInt8](repeating: 1, count: 16)).message(3, image)
        #expect(body.bytes.count < MessageLimits.frontFrameBytesMax)
        #expect(throws: WireError.quotaExceeded) {
            try Frames(.load, body).clientMessage()
        }
        let ids = ProtobufBytes.none.bytes(1, [UInt8](repeating: 1, count: 90_000))
        #expect(throws: WireError.quotaExceeded) {
            try Frames(.release, ids).clientMessage()
        }
    }

    /// Makes every allocation of protobuf-c fail once.
    @Test func memoryMayEndAnywhere() throws {
        let load = largestLoad()
        let body = try Frames(.load(load)).body
        var ends: Set<WireError> = []
        for quota in stride(from: 0, through: 80_000, by: 56) {
            var decoder = MessageDecoder(quota: quota)
            do {
                let message = try decoder.clientMessage(.load, body.span.bytes)
                #expect(message == .load(load))
            } catch {
                ends.insert(error)
            }
        }
        #expect(ends == [.quotaExceeded])
    }

    @Test func unknownFieldsCountAgainstTheQuotaAndTheDecoderRecovers() throws {
        var decoder = MessageDecoder()
        let hostile = ProtobufBytes.none.repeating(45_000) { $0.number(15, 1) }.bytes
        #expect(throws: WireError.quotaExceeded) {
            try decoder.clientMessage(.status, hostile.span.bytes)
        }
        let nothing: [UInt8] = []
        let message = try decoder.clientMessage(.status, nothing.span.bytes)
        #expect(message == .status)
    }
}
