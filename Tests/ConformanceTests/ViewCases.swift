import Imagebus
import Model
import StackKit
import Synchronization
import TestKit
import Testing

extension Conformance {
    /// The slots of views, and where callbacks run (SDWebCacheCategoriesTests, SDUtilsTests).
    @Suite struct ViewCases {
        private let gallery: Gallery

        init() throws { gallery = try Gallery() }

        /// Two loads in one slot: the second cancels the first, unless its options prevent that.
        @Test(arguments: [false, true])
        func case112_aNewLoadOfASlotCancelsTheOldOneUnlessItAvoidsIt(avoids: Bool) async throws {
            let client = try SharedStack.current.client()
            let gate = Gate()
            let path = "/case112-\(avoids).jpg"
            let url = gallery.hold(path, until: gate)
            let first = client.load(ImageRequest(url, fit: 20), slot: "view")
            #expect(await gallery.origin.waitForRequest(path))
            let options: RequestOptions = avoids ? .avoidAutoCancelImage : []
            let second = client.load(ImageRequest(url, fit: 30, options: options), slot: "view")
            if !avoids { #expect(await first.errorCode?.rawValue == 2002) }
            gate.open()
            #expect(await second.errorCode == nil)
            #expect(await first.errorCode == (avoids ? nil : .cancelled))
        }

        /// The canceled first load calls back once, before the second does, even if memory has the
        /// second image.
        @Test func case113_theFirstEndsOnceBeforeTheSecond() async throws {
            let client = try SharedStack.current.client()
            let slow = gallery.hold("/case113.jpg", until: Gate())
            let fast = gallery.url("/case113-fast.jpg")
            let log = Recorder<String>()
            for _ in 0..<2 {
                let first = client.load(ImageRequest(slow, fit: 20), slot: "view", on: .inline) {
                    if case .failure(let error) = $0 { log.append("\(error.code.rawValue)") }
                }
                let second = client.load(ImageRequest(fast, fit: 20), slot: "view", on: .inline) {
                    if case .success = $0 { log.append("image") }
                }
                #expect(await first.errorCode == .cancelled)
                _ = try await second.response
            }
            #expect(log.values == ["2002", "image", "2002", "image"])
        }

        /// The callback of a canceled load gets error 2002 and no image.
        @Test func case114_theCallbackOfACancelSays2002() async throws {
            let client = try SharedStack.current.client()
            let url = gallery.hold("/case114.jpg", until: Gate())
            let codes = Recorder<UInt16?>()
            let task = client.load(ImageRequest(url: url), slot: "view", on: .inline) { result in
                if case .failure(let error) = result {
                    codes.append(error.code.rawValue)
                } else {
                    codes.append(nil)
                }
            }
            #expect(await gallery.origin.waitForRequest("/case114.jpg"))
            task.cancel()
            task.cancel()
            #expect(await task.errorCode == .cancelled)
            #expect(codes.values == [2002])
        }

        /// No URL is error 1000, in a slot as well; a string is accepted as a URL.
        @Test func case118_noURLIs1000AndATextIsAURL() async throws {
            let client = try SharedStack.current.client()
            #expect(await client.load(ImageRequest(url: ""), slot: "view").errorCode == .invalidURL)
            #expect(ErrorCode.invalidURL.rawValue == 1000)
            let image = try await client.load(gallery.url("/case118.jpg")).response
            #expect(image.bytes?.array == gallery.image)
        }

        /// A callback runs according to its policy: at once on the thread that has the result, in a
        /// task on an executor, or at once if it is on that executor already.
        @Test func case120_callbacksRunWhereTheirPolicySays() async throws {
            let client = try SharedStack.current.client()
            let url = gallery.url("/case120.jpg")
            func isOnLine(_ executor: CallbackExecutor) async -> Bool? {
                let (ends, sink) = AsyncStream<Bool>.makeStream()
                client.load(ImageRequest(url, fit: 20), on: executor) { result in
                    let thread = FileBytes.text("/proc/thread-self/comm")
                    if case .success = result { sink.yield(thread == "imagebus-client\n") }
                    sink.finish()
                }
                var all: [Bool] = []
                for await end in ends { all.append(end) }
                return all.count == 1 ? all.first : nil
            }
            #expect(await isOnLine(.inline) == true)
            #expect(await isOnLine(.dispatch()) == false)
            #expect(await isOnLine(.dispatch(client.executor)) == true)
            #expect(await isOnLine(.safe(client.executor)) == true)
        }

        /// On the executor already, *safe* calls back before the call returns, and *dispatch* later
        /// in a separate task, although both are on the same executor.
        @Test func safeCallsAtOnceWhereDispatchCallsLater() async throws {
            let client = try SharedStack.current.client()
            let request = ImageRequest(gallery.url("/at-hand.jpg"), fit: 20)
            // Only an image in the client's own memory ends a load within its call.
            let deadline = ContinuousClock.now + .seconds(20)
            while client.answerAtHand(to: request) == nil {
                try #require(ContinuousClock.now < deadline)
                _ = try await client.load(request).response
            }
            let elsewhere = HeldExecutor()
            func isCalledAtOnce(_ executor: CallbackExecutor) async -> Bool {
                let (ends, sink) = AsyncStream<Void>.makeStream()
                let isCalled = Mutex(false)
                let isAtOnce = await Task(executorPreference: client.executor) {
                    client.load(request, on: executor) { _ in
                        isCalled.withLock { $0 = true }
                        sink.finish()
                    }
                    return isCalled.withLock(\.self)
                }.value
                elsewhere.release()
                for await _ in ends {}
                return isAtOnce
            }
            #expect(await isCalledAtOnce(.inline))
            #expect(await isCalledAtOnce(.safe(client.executor)))
            #expect(await !isCalledAtOnce(.dispatch(client.executor)))
            #expect(await !isCalledAtOnce(.safe(elsewhere)))
        }
    }
}

/// An executor that doesn't run jobs until `release` is called.
private final class HeldExecutor: TaskExecutor {
    private let jobs = Mutex<[UnownedJob]>([])

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
    }

    /// Runs the jobs held so far, on the caller's thread.
    func release() {
        let held = jobs.withLock { held in
            defer { held = [] }
            return held
        }
        for job in held { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
