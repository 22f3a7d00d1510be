import ImageModel
import Imagebus
import Messages
import Synchronization
import TestKit
import Testing

extension RealProcesses {
    /// What an image is for wants one image at a time (sdwebimage.md §10, rows 112 to 114, 118 and
    /// 120).
    @Suite struct SlotTests {
        private final class Log: Sendable {
            private let lines = Mutex<[String]>([])
            func add(_ line: String) { lines.withLock { $0.append(line) } }
            var all: [String] { lines.withLock { $0 } }
        }

        @Test func theFirstEndsCancelledOnceBeforeTheSecond() async throws {
            let slow = try SlowPicture()
            let picture = try Pictures.waves(width: 40, height: 30).jpeg(quality: 80)
            slow.origin.route("/fast.jpg", .bytes(picture, contentType: "image/jpeg"))
            try await withStack { stack in
                let client = try stack.client()
                let log = Log()
                // The second time it is in memory.
                for _ in 0..<2 {
                    let first = client.load(
                        ImageRequest(slow.origin.url("/slow.jpg"), fit: 20), slot: "view",
                        on: .inline
                    ) { result in
                        if case .failure(let error) = result { log.add("\(error.code.rawValue)") }
                    }
                    let second = client.load(
                        ImageRequest(slow.origin.url("/fast.jpg"), fit: 20), slot: "view",
                        on: .inline
                    ) { result in
                        if case .success = result { log.add("image") }
                    }
                    #expect(await first.errorCode == .cancelled)
                    _ = try await second.response
                }
                #expect(log.all == ["2002", "image", "2002", "image"])
            }
        }

        @Test func whoAvoidsItLeavesTheFirstAlone() async throws {
            let slow = try SlowPicture()
            try await withStack { stack in
                let client = try stack.client()
                let url = slow.origin.url("/slow.jpg")
                let first = client.load(ImageRequest(url, fit: 20), slot: "view")
                #expect(await slow.origin.waitForRequest("/slow.jpg"))
                let second = client.load(
                    ImageRequest(url, fit: 30, options: .avoidAutoCancelImage), slot: "view")
                slow.gate.open()
                _ = try await first.response
                _ = try await second.response
            }
        }

        @Test func aLoadWithoutAURLIsAnInvalidOne() async throws {
            try await withStack { stack in
                let client = try stack.client()
                #expect(await client.load("").errorCode == .invalidURL)
            }
        }

        @Test(.timeLimit(.minutes(2))) func callbacksRunWhereTheyAreWanted() async throws {
            let origin = OriginServer()
            let picture = try Pictures.waves(width: 40, height: 30).jpeg(quality: 80)
            origin.route("/one.jpg", .bytes(picture, contentType: "image/jpeg"))
            try await withStack { stack in
                let client = try stack.client()
                let executors: [CallbackExecutor] = [
                    .inline, .dispatch(), .dispatch(client.executor), .safe(client.executor),
                ]
                for executor in executors {
                    let (ends, sink) = AsyncStream<Bool>.makeStream()
                    client.load(ImageRequest(origin.url("/one.jpg"), fit: 20), on: executor) {
                        if case .success = $0 { sink.yield(true) } else { sink.yield(false) }
                        sink.finish()
                    }
                    var all: [Bool] = []
                    for await end in ends { all.append(end) }
                    #expect(all == [true])
                }
            }
        }

        @Test func aRaisedLoadOfASlotGoesOnAndAnswers() async throws {
            let slow = try SlowPicture()
            try await withStack { stack in
                let client = try stack.client()
                let task = client.load(
                    ImageRequest(slow.origin.url("/slow.jpg"), fit: 20, options: .lowPriority))
                #expect(await slow.origin.waitForRequest("/slow.jpg"))
                client.reprioritise(task, .high)
                slow.gate.open()
                _ = try await task.response
            }
        }
    }
}
