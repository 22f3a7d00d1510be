import Model
import Testing

@testable import Imagebus

private let welcome = ClientWelcome(epoch: Epoch(Identifier128(high: 1, low: 1)), window: 4_096)
private let batch = Token(Identifier128(high: 0, low: 7))

private func at(_ milliseconds: Int) -> Instant {
    Instant(nanoseconds: 1).adding(milliseconds: milliseconds)
}

private func command(_ count: Int, bytes: Int = 20) -> PrefetchCommand {
    PrefetchCommand(
        batch: batch, template: ImageRequest(url: "http://ignored/"),
        urls: (0..<count).map { number in
            let name = "http://a.test/\(number)"
            return name + String(repeating: "x", count: max(0, bytes - name.utf8.count))
        }, concurrency: 3)
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
    private func pending(_ command: PrefetchCommand) -> PendingPrefetches {
        var pending = PendingPrefetches(connectTimeoutMilliseconds: 5_000)
        #expect(pending.submitted(command, at: at(0)) == [])
        _ = pending.welcomed(welcome)
        return pending
    }

    @Test func aListGoesInPartsThatFitAFrame() {
        var pending = pending(command(100, bytes: 8_000))
        let parts = send(&pending)
        #expect(parts.map(\.urls.count) == Array(repeating: 6, count: 16) + [4])
        #expect(parts.map(\.isLast) == Array(repeating: false, count: 16) + [true])
        #expect(parts.flatMap(\.urls) == command(100, bytes: 8_000).urls)
        #expect(parts[0].image.url == "")
    }

    @Test func notMoreIsOnTheWayThanTheWindowSays() {
        var pending = pending(command(10_000))
        #expect(send(&pending).map(\.urls.count) == [1_024, 1_024, 1_024, 1_024])
        let counts = PrefetchCounts(total: 10_000, finished: 100, skipped: 1)
        #expect(pending.reported(report(100, skipped: 1)) == [.advance(batch, counts)])
        #expect(send(&pending).map(\.urls.count) == [100])
    }

    @Test func itEndsWithTheLastReport() {
        var pending = pending(command(2))
        _ = send(&pending)
        let counts = PrefetchCounts(total: 2, finished: 2, skipped: 1)
        #expect(pending.reported(report(2, skipped: 1, isFinal: true)) == [.finish(batch, counts)])
        #expect(pending.isEmpty)
    }

    @Test func whatFitsIntoNoMessageIsSkipped() {
        var urls = command(2).urls
        urls += ["", String(repeating: "x", count: 8_193)]
        let mixed = PrefetchCommand(
            batch: batch, template: ImageRequest(url: ""), urls: urls, concurrency: 3)
        var pending = pending(mixed)
        #expect(send(&pending).map(\.urls.count) == [2])
        let counts = PrefetchCounts(total: 4, finished: 4, skipped: 2)
        let failures = urls.suffix(2).map { url in
            let fault = url.isEmpty ? "is empty" : "exceeds 8192 bytes"
            return PrefetchFailure(url: url, error: ImageError(.invalidURL, "the URL \(fault)"))
        }
        #expect(failures.last?.url.utf8.count == 1_024)
        let ends = PrefetchEnds(errors: [.init(.invalidURL, 2)])
        #expect(
            pending.reported(report(2, isFinal: true)) == [
                .finish(batch, counts, failures, ends)
            ])
    }

    @Test func anEmptyListEndsAtOnce() {
        var pending = PendingPrefetches(connectTimeoutMilliseconds: 5_000)
        #expect(
            pending.submitted(command(0), at: at(0)) == [.finish(batch, PrefetchCounts(total: 0))])
        #expect(pending.isEmpty)
    }

    @Test func aCancelBeforeTheFirstPartIsLocal() {
        var pending = pending(command(2))
        let counts = PrefetchCounts(total: 2, cancelled: 2)
        #expect(pending.cancelled(batch) == [.finish(batch, counts)])
        #expect(pending.next == nil)
    }

    @Test func aCancelEndsWithTheLastReportAndNoPartFollowsIt() {
        var pending = pending(command(10_000))
        _ = send(&pending)
        #expect(pending.cancelled(batch) == [.send(.cancel(batch))])
        #expect(pending.cancelled(batch) == [])
        _ = pending.reported(report(10))
        #expect(pending.next == nil)
        let counts = PrefetchCounts(total: 10_000, finished: 11, cancelled: 9_989)
        #expect(pending.reported(report(11, isFinal: true)) == [.finish(batch, counts)])
    }

    @Test func afterALostSessionItBeginsAnewAsAWhole() {
        var pending = pending(command(2_000))
        #expect(send(&pending).count == 2)
        _ = pending.reported(report(500))
        #expect(pending.sessionEnded(at: at(10)) == [])
        #expect(pending.next == nil)
        _ = pending.welcomed(welcome)
        #expect(send(&pending).flatMap(\.urls) == command(2_000).urls)
        #expect(
            pending.reported(report(1)) == [
                .advance(batch, PrefetchCounts(total: 2_000, finished: 1))
            ])
    }

    @Test func whatWasCancelledIsNotSentAgain() {
        var pending = pending(command(2))
        _ = send(&pending)
        _ = pending.cancelled(batch)
        #expect(
            pending.sessionEnded(at: at(10)) == [
                .finish(batch, PrefetchCounts(total: 2, cancelled: 2))
            ])
        #expect(pending.isEmpty)
    }

    @Test func aCoordinatorThatShutsDownLeavesItToTheNext() {
        var pending = pending(command(2))
        _ = send(&pending)
        #expect(pending.refused(ImageError(.shuttingDown, "drain"), batch) == [])
        #expect(pending.next == nil)
        _ = pending.sessionEnded(at: at(10))
        _ = pending.welcomed(welcome)
        #expect(send(&pending).count == 1)
    }

    @Test func aRefusalEndsIt() {
        var pending = pending(command(2))
        _ = send(&pending)
        let busy = ImageError(.busy, "busy")
        #expect(pending.refused(busy, batch) == [.fail(batch, busy)])
        #expect(pending.isEmpty)
    }

    @Test func whereNobodyServesItIsUnavailable() {
        var pending = PendingPrefetches(connectTimeoutMilliseconds: 5_000)
        _ = pending.submitted(command(2), at: at(0))
        #expect(pending.nextDeadline == at(5_000))
        #expect(pending.expire(at: at(4_999)) == [])
        guard case .fail(_, let error) = pending.expire(at: at(5_000)).first else {
            Issue.record("it did not end")
            return
        }
        #expect(error.code == .unavailable)
    }

    @Test func itsClassIsSaidAgainToTheNextCoordinator() {
        var pending = pending(command(2))
        #expect(pending.reprioritized(batch, .high) == [])
        guard let part = pending.next else { return }
        #expect(pending.sent(part) == [.send(.reprioritize(batch, .high))])
        #expect(pending.reprioritized(batch, .normal) == [.send(.reprioritize(batch, .normal))])
    }
}
