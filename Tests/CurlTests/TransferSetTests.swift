import Curl
import TestKit
import Testing

/// Many transfers on one thread.
@Suite struct TransferSetTests {
    @Test func aTurnReadsAShareOfEachConnection() throws {
        #expect(CurlLibrary.readsInTurns)
        let origin = OriginServer()
        origin.route("/a", .generated(count: 1 << 20))
        var set = try emptySet(origin)
        let sink = CollectingSink()
        _ = try set.start(request(origin.url("/a")), into: sink)
        var (before, turns, most) = (0, 0, 0)
        var ended: (transfer: Transfer, error: CurlError?)?
        while ended == nil {
            try turn(&set)
            most = max(most, sink.body.count - before)
            (before, turns) = (sink.body.count, turns + 1)
            ended = set.nextEnded()
        }
        #expect(ended?.error == nil)
        #expect(sink.body.count == 1 << 20)
        #expect(most <= 256 << 10)
        #expect(turns >= 4)
    }

    @Test func manyTransfersRunAtOnce() throws {
        let origin = OriginServer()
        let gate = Gate()
        origin.route("/n/*", .hang(until: gate, then: Array("body".utf8)))
        var set = try emptySet(origin)
        var sinks: [CollectingSink] = []
        for number in 0..<100 {
            let sink = CollectingSink()
            sinks.append(sink)
            _ = try set.start(request(origin.url("/n/\(number)")), into: sink)
        }
        while origin.totalRequestCount < 100 { try turn(&set) }
        #expect(set.nextEnded() == nil)
        gate.open()
        var ended = 0
        while ended < 100 {
            try turn(&set)
            while let transfer = set.nextEnded() {
                #expect(transfer.error == nil)
                ended += 1
            }
        }
        #expect(sinks.allSatisfy { $0.body == Array("body".utf8) })
        #expect(set.count == 0)
    }

    @Test func anAbortedTransferClosesItsConnection() throws {
        let origin = OriginServer()
        origin.route("/hang", .hangBody(until: Gate(), then: [1]))
        var set = try emptySet(origin)
        let sink = CollectingSink()
        let transfer = try set.start(request(origin.url("/hang")), into: sink)
        while sink.heads.isEmpty { try turn(&set) }
        set.abort(transfer)
        #expect(origin.waitForConnectionClosed("/hang"))
        set.abort(transfer)
        #expect(set.count == 0)
    }

    @Test func aSetThatIsLetGoClosesAllConnections() throws {
        let origin = OriginServer()
        origin.route("/hang", .hang(until: Gate()))
        do {
            var set = try emptySet(origin)
            _ = try set.start(request(origin.url("/hang")), into: CollectingSink())
            while origin.requestCount("/hang") == 0 { try turn(&set) }
        }
        #expect(origin.waitForConnectionClosed("/hang"))
    }

    @Test func aConnectionIsUsedAgainWithoutCookies() throws {
        let origin = OriginServer()
        origin.route("/a", .bytes([1]).with(header: "Set-Cookie", "a=b; Path=/"))
        var set = try emptySet(origin)
        for _ in 0..<20 {
            _ = try set.start(request(origin.url("/a")), into: CollectingSink())
            while set.nextEnded() == nil { try turn(&set) }
        }
        #expect(origin.requestCount("/a") == 20)
        #expect(origin.requests("/a").allSatisfy { $0.header("cookie") == nil })
        #expect(origin.acceptedConnectionCount == 1)
    }

    @Test func postponedBytesComeAgain() throws {
        let origin = OriginServer()
        origin.route("/big", .generated(count: 1 << 20))
        var set = try emptySet(origin)
        let sink = PostponingSink()
        let transfer = try set.start(request(origin.url("/big")), into: sink)
        var times = 0
        while true {
            try turn(&set)
            if let ended = set.nextEnded() {
                #expect(ended.error == nil)
                break
            }
            guard sink.hasPostponed else { continue }
            // It stays postponed until the sink resumes the transfer.
            let count = sink.body.count
            try turn(&set)
            #expect(sink.body.count == count)
            times += 1
            sink.hasPostponed = false
            try set.resume(transfer)
        }
        #expect(times > 3)
        #expect(sink.body == OriginBody.generatedBytes(count: 1 << 20))
        try set.resume(transfer)
    }

    @Test func aTransferThatWaitsCanBeAborted() throws {
        let origin = OriginServer()
        origin.route("/big", .generated(count: 1 << 20))
        var set = try emptySet(origin)
        let sink = PostponingSink()
        let transfer = try set.start(request(origin.url("/big")), into: sink)
        while !sink.hasPostponed { try turn(&set) }
        set.abort(transfer)
        #expect(origin.waitForConnectionClosed("/big"))
        try set.resume(transfer)
        #expect(sink.body.count < 1 << 20)
    }

    @Test func aWakeUpEndsTheWait() throws {
        let set = try TransferSet(try CurlLibrary.start(), policy: policy(allowing: []))
        let waker = set.waker
        let thread = BackgroundThread { waker.wake() }
        let started = ContinuousClock.now
        try set.wait(milliseconds: 20_000)
        #expect(started.duration(to: .now) < .seconds(10))
        #expect(thread.join())
    }

    private func emptySet(_ origin: OriginServer) throws -> TransferSet {
        try TransferSet(try CurlLibrary.start(), policy: policy(allowing: [origin]))
    }

    private func request(_ url: String) -> TransferRequest {
        TransferRequest(url: url, bodyBytesMax: 1 << 20, timeoutMilliseconds: 30_000)
    }

    private func turn(_ set: inout TransferSet) throws {
        try set.perform()
        try set.wait(milliseconds: 10)
    }
}

/// Accepts every second delivery at first, and postpones the others.
private final class PostponingSink: TransferSink {
    private(set) var body: [UInt8] = []
    var hasPostponed = false
    private var postpones = false

    func receive(_ head: ResponseHead) -> Bool { true }

    func receive(_ bytes: RawSpan) -> Reception {
        defer { postpones.toggle() }
        guard !postpones else {
            hasPostponed = true
            return .postponed
        }
        body += bytes.withUnsafeBytes { Array($0) }
        return .accepted
    }
}
