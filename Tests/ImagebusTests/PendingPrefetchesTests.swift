import Model
import Testing

@testable import Imagebus

private let batch = Token(Identifier128(high: 0, low: 7))

private func urls(_ count: Int, bytes: Int = 20) -> [String] {
    (0..<count).map { number in
        let name = "http://a.test/\(number)"
        return name + String(repeating: "x", count: max(0, bytes - name.utf8.count))
    }
}

private func report(_ finished: UInt64, skipped: UInt64 = 0, isFinal: Bool = false)
    -> PrefetchReport
{
    PrefetchReport(
        batch: batch, total: finished, finished: finished, skipped: skipped, isFinal: isFinal)
}

/// Sends everything that may be sent.
private func send(_ pending: inout PendingPrefetches) -> [PrefetchRequest] {
    var parts: [PrefetchRequest] = []
    while let part = pending.next {
        #expect(pending.hasNext)
        _ = pending.sent(part)
        parts.append(part)
    }
    #expect(!pending.hasNext)
    return parts
}

@Suite struct PendingPrefetchesTests {
    private let task: PrefetchTask
    private var pending = PendingPrefetches(connectTimeoutMilliseconds: 5_000)

    init() throws { task = PrefetchTask(token: batch, commands: try CommandQueue(commandsMax: 1)) }

    private mutating func submit(_ urls: [String], isWelcome: Bool = true) {
        let command = PrefetchCommand(
            task: task, template: ImageRequest(url: "http://ignored/"), urls: urls, concurrency: 3)
        pending.submitted(command, at: at(0))
        if isWelcome { pending.welcomed(welcome(window: 4_096)) }
    }

    /// The counts at the end.
    private func expectEnd(_ counts: PrefetchCounts) async throws {
        #expect(pending.isEmpty)
        #expect(try await task.result == counts)
    }

    /// The newest progress.
    private func expectProgress(_ counts: PrefetchCounts) async {
        var progress = task.progress.makeAsyncIterator()
        #expect(await progress.next() == counts)
    }

    @Test mutating func aListGoesInPartsThatFitAFrame() {
        submit(urls(100, bytes: 8_000))
        let parts = send(&pending)
        #expect(parts.map(\.urls.count) == Array(repeating: 6, count: 16) + [4])
        #expect(parts.map(\.isLast) == Array(repeating: false, count: 16) + [true])
        #expect(parts.flatMap(\.urls) == urls(100, bytes: 8_000))
        #expect(parts[0].image.url == "")
    }

    @Test mutating func notMoreIsOnTheWayThanTheWindowSays() async {
        submit(urls(10_000))
        #expect(send(&pending).map(\.urls.count) == [1_024, 1_024, 1_024, 1_024])
        pending.reported(report(100, skipped: 1))
        await expectProgress(PrefetchCounts(total: 10_000, finished: 100, skipped: 1))
        #expect(send(&pending).map(\.urls.count) == [100])
    }

    @Test mutating func itEndsWithTheLastReport() async throws {
        submit(urls(2))
        _ = send(&pending)
        pending.reported(report(2, skipped: 1, isFinal: true))
        try await expectEnd(PrefetchCounts(total: 2, finished: 2, skipped: 1))
        #expect(task.failures == [] && task.ends == PrefetchEnds())
    }

    @Test mutating func whatFitsIntoNoMessageIsSkipped() async throws {
        let unsendable = ["", String(repeating: "x", count: 8_193)]
        submit(urls(2) + unsendable)
        #expect(send(&pending).map(\.urls.count) == [2])
        pending.reported(report(2, isFinal: true))
        try await expectEnd(PrefetchCounts(total: 4, finished: 4, skipped: 2))
        let failures = unsendable.map { url in
            let fault = url.isEmpty ? "is empty" : "exceeds 8192 bytes"
            return PrefetchFailure(url: url, error: ImageError(.invalidURL, "the URL \(fault)"))
        }
        #expect(failures.last?.url.utf8.count == 1_024)
        #expect(task.failures == failures)
        #expect(task.ends == PrefetchEnds(errors: [.init(.invalidURL, 2)]))
    }

    @Test mutating func anEmptyListEndsAtOnce() async throws {
        submit([], isWelcome: false)
        try await expectEnd(PrefetchCounts(total: 0))
    }

    @Test mutating func aCancelBeforeTheFirstPartIsLocal() async throws {
        submit(urls(2))
        #expect(pending.cancelled(batch) == nil)
        try await expectEnd(PrefetchCounts(total: 2, cancelled: 2))
        #expect(pending.next == nil)
    }

    @Test mutating func aCancelEndsWithTheLastReportAndNoPartFollowsIt() async throws {
        submit(urls(10_000))
        _ = send(&pending)
        #expect(pending.cancelled(batch) == .cancel(batch))
        #expect(pending.cancelled(batch) == nil)
        pending.reported(report(10))
        #expect(pending.next == nil)
        pending.reported(report(11, isFinal: true))
        try await expectEnd(PrefetchCounts(total: 10_000, finished: 11, cancelled: 9_989))
    }

    @Test mutating func afterALostSessionItBeginsAnewAsAWhole() async {
        submit(urls(2_000))
        #expect(send(&pending).count == 2)
        pending.reported(report(500))
        pending.sessionEnded(at: at(10))
        #expect(pending.next == nil && !pending.isEmpty)
        pending.welcomed(welcome(window: 4_096))
        #expect(send(&pending).flatMap(\.urls) == urls(2_000))
        pending.reported(report(1))
        await expectProgress(PrefetchCounts(total: 2_000, finished: 1))
    }

    @Test mutating func whatWasCancelledIsNotSentAgain() async throws {
        submit(urls(2))
        _ = send(&pending)
        _ = pending.cancelled(batch)
        pending.sessionEnded(at: at(10))
        try await expectEnd(PrefetchCounts(total: 2, cancelled: 2))
    }

    @Test mutating func aCoordinatorThatShutsDownLeavesItToTheNext() {
        submit(urls(2))
        _ = send(&pending)
        pending.refused(ImageError(.shuttingDown, "drain"), batch)
        #expect(pending.next == nil && !pending.isEmpty)
        pending.sessionEnded(at: at(10))
        pending.welcomed(welcome(window: 4_096))
        #expect(send(&pending).count == 1)
    }

    @Test mutating func aRefusalEndsIt() async {
        submit(urls(2))
        _ = send(&pending)
        let busy = ImageError(.busy, "busy")
        pending.refused(busy, batch)
        #expect(pending.isEmpty)
        let task = task
        await #expect(throws: busy) { try await task.result }
    }

    @Test mutating func whereNobodyServesItIsUnavailable() async {
        submit(urls(2), isWelcome: false)
        #expect(pending.nextDeadline == at(5_000))
        pending.expire(at: at(4_999))
        #expect(!pending.isEmpty)
        pending.expire(at: at(5_000))
        #expect(pending.isEmpty)
        let task = task
        await #expect(throws: ImageError.nobodyServes) { try await task.result }
    }

    @Test mutating func itsClassIsSaidAgainToTheNextCoordinator() {
        submit(urls(2))
        #expect(pending.reprioritized(batch, .high) == nil)
        guard let part = pending.next else { return }
        #expect(pending.sent(part) == .reprioritize(batch, .high))
        #expect(pending.reprioritized(batch, .normal) == .reprioritize(batch, .normal))
    }
}
