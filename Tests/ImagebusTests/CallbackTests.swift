import Model
import Synchronization
import Testing

@testable import Imagebus

/// Where callbacks run (SEMANTICS §2.10).
@Suite struct CallbackTests {
    private final class Log: Sendable {
        let lines = Mutex<[String]>([])
        func add(_ line: String) { lines.withLock { $0.append(line) } }
        var all: [String] { lines.withLock { $0 } }
    }

    private let token = Token(Identifier128(high: 0, low: 1))
    private let failure = ImageError(.cancelled, "as told")

    private func callbacks(
        on executor: CallbackExecutor, _ log: Log, _ ended: AsyncStream<Void>.Continuation
    ) -> LoadCallbacks {
        LoadCallbacks(on: executor) { progress in
            log.add("progress \(progress.received)")
        } completion: { _ in
            log.add("end")
            ended.yield()
        }
    }

    /// Every combination of requested callbacks on every kind of executor.
    @Test(.timeLimit(.minutes(1)), arguments: 0..<3, [[], ["progress"], ["partial"], ["cached"]])
    func eachWishIsFulfilledWhereverItRuns(place: Int, wishes: [String]) async throws {
        let executors: [CallbackExecutor] = [.inline, .dispatch(), .safe(globalConcurrentExecutor)]
        let (commands, log) = (try CommandQueue(commandsMax: 4), Log())
        let (stream, ended) = AsyncStream<Void>.makeStream()
        func callback<Event>(_ wish: String) -> (@Sendable (Event) -> Void)? {
            guard wishes.contains(wish) else { return nil }
            return { _ in log.add(wish) }
        }
        let callbacks = LoadCallbacks(
            on: executors[place], progress: callback("progress"), partial: callback("partial"),
            cached: callback("cached")
        ) { _ in
            log.add("end")
            ended.yield()
        }
        let task = LoadTask(token: token, commands: commands, callbacks: callbacks)
        task.receivedProgress(RequestProgress(token: token, received: 1, expected: 2))
        task.receivedPartial(.image("half"))
        task.receivedCached(.image("old"))
        task.finish(.failure(failure))
        for await _ in stream { break }
        #expect(log.all == wishes + ["end"])
    }

    @Test func inlineCallbacksRunWhereTheLoadEnds() throws {
        let (commands, log) = (try CommandQueue(commandsMax: 4), Log())
        let (_, ended) = AsyncStream<Void>.makeStream()
        let task = LoadTask(
            token: token, commands: commands, callbacks: callbacks(on: .inline, log, ended))
        task.receivedProgress(RequestProgress(token: token, received: 1, expected: 2))
        #expect(log.all == ["progress 1"])
        task.finish(.failure(failure))
        task.finish(.failure(failure))
        #expect(log.all == ["progress 1", "end"], "once, and at once")
    }

    @Test(.timeLimit(.minutes(1))) func dispatchedCallbacksRunLaterInOrder() async throws {
        let (commands, log) = (try CommandQueue(commandsMax: 4), Log())
        let (stream, ended) = AsyncStream<Void>.makeStream()
        let task = LoadTask(
            token: token, commands: commands, callbacks: callbacks(on: .dispatch(), log, ended))
        for received in 1...3 {
            task.receivedProgress(
                RequestProgress(token: token, received: UInt64(received), expected: 3))
        }
        task.finish(.failure(failure))
        for await _ in stream { break }
        #expect(log.all == ["progress 1", "progress 2", "progress 3", "end"])
    }

    @Test func safeCallbacksRunAtOnceOnTheClientsOwnExecutor() throws {
        let (commands, log) = (try CommandQueue(commandsMax: 4), Log())
        let (_, ended) = AsyncStream<Void>.makeStream()
        let task = LoadTask(
            token: token, commands: commands,
            callbacks: callbacks(on: .safe(ConnectionExecutor(commands)), log, ended))
        task.finish(.failure(failure))
        #expect(log.all == ["end"])
    }

    @Test func safeCallbacksOfACallElsewhereWaitForTheExecutor() throws {
        let (commands, log) = (try CommandQueue(commandsMax: 4), Log())
        let (_, ended) = AsyncStream<Void>.makeStream()
        let executor = ConnectionExecutor(commands)
        let task = LoadTask(
            token: token, commands: commands, callbacks: callbacks(on: .safe(executor), log, ended))
        task.finish(.failure(failure), onClientThread: false)
        #expect(log.all == [], "this is not the client's thread")
        while log.all.isEmpty { executor.runWaiting() }
        #expect(log.all == ["end"])
    }
}
