import Model
import Testing

@testable import Coordinator

/// One trace through all stages, and into the log.
@Suite struct TraceTests {
    private let first = TraceContext(
        trace: Identifier128(high: 1, low: 2), parent: 3, flags: 1)
    private let second = TraceContext(
        trace: Identifier128(high: 4, low: 5), parent: 6, flags: 0)

    @Test func everyJobHasTheTraceOfTheRequestThatBeganIt() throws {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        stack.load(.image(size: 5), by: client, trace: first)
        stack.load(.image(size: 5), by: client, trace: second)
        stack.load(.image(size: 6), by: client, trace: second)
        var seen: [JobStage: Set<TraceContext?>] = [:]
        while let held = stack.allHeld.first {
            seen[held.job.work.stage, default: []].insert(held.job.logContext.trace)
            stack.finish(held)
        }
        #expect(seen[.fetch] == [first])
        #expect(seen[.query] == [first, second], "the other size is queried for the second")
        #expect(seen[.decode] == [first, second])
        #expect(seen[.transform] == [first, second])
        #expect(seen[.store] == [first, second])
        #expect(stack.isAtRest)
    }

    @Test func everyJobAndTheRecordHaveTheRequestIDOfTheFirst() throws {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let (first, second) = (RequestID(text: "first"), RequestID(text: "second"))
        let one = stack.load(.image(size: 5), by: client, requestID: first)
        let other = stack.load(.image(size: 5), by: client, requestID: second)
        var seen: Set<RequestID?> = []
        while let held = stack.allHeld.first {
            seen.insert(held.job.logContext.requestID)
            stack.finish(held)
        }
        #expect(seen == [first])
        #expect(stack.records[one]?.logContext.requestID == first)
        #expect(stack.records[other]?.logContext.requestID == second)
    }

    @Test func aNewAttemptKeepsItsTrace() throws {
        var stack = Stack()
        stack.hireAll()
        stack.load(.image(size: nil, .fromLoaderOnly), by: stack.connect(), trace: first)
        stack.kill(try #require(stack.held(.fetch).first).worker)
        stack.hire(.download)
        let again = try #require(stack.held(.fetch).first).job
        #expect(again.attempt == 2)
        #expect(again.logContext.trace == first)
    }

    @Test func everyReplyIsRecordedWithURLTraceAndAttempts() throws {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let token = stack.load(.image(size: 5), by: client, trace: first)
        stack.run(.query, .query, .fetch, .decode)
        stack.kill(stack.worker(.decode))
        stack.hire(.decode)
        stack.finishAll()
        let record = try #require(stack.records[token])
        #expect(record.url == "http://example.org/a.jpg")
        #expect(record.logContext.trace == first)
        #expect(record.attempts == 2, "its pixels were lost")
        #expect(record.reply == stack.reply(token))

        let refused = stack.load(ImageRequest(url: "nonsense"), by: client, trace: second)
        #expect(stack.records[refused]?.logContext.trace == second)
        let cancelled = stack.load(.image("b"), by: client)
        stack.send(.cancel(client, cancelled))
        #expect(stack.records[cancelled]?.reply == stack.reply(cancelled))
        stack.publish("http://example.org/c.jpg")
        let hit = stack.load(.image("c", size: nil), by: client, trace: second)
        #expect(stack.records[hit]?.logContext.trace == second)
        #expect(stack.faults == [])
    }
}
