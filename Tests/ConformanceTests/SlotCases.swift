import Imagebus
import Model
import StackKit
import TestKit
import Testing

extension Conformance {
    /// The content of a slot over its loads (SDWebCacheCategoriesTests).
    @Suite struct SlotCases {
        private let gallery: Gallery

        init() throws { gallery = try Gallery() }

        /// A slot that records what it should show, on the thread of the callback.
        private struct Page {
            let slot: ImageSlot<String>
            let log = Recorder<String>()

            init(_ client: ImagebusClient) {
                let log = log
                slot = ImageSlot(client, on: .inline) { key, change in
                    switch change {
                    case .placeholder(let text): log.append("\(key): \(text ?? "nothing")")
                    case .image(let image, let isPartial, let wants):
                        let tier = image.cacheType == .none ? "fetched" : image.cacheType.name
                        let end = (isPartial ? " partly" : "") + (wants ? " in transition" : "")
                        log.append("\(key): \(tier)\(end)")
                    case .indicator(let isRunning): log.append(isRunning ? "spin" : "rest")
                    case .progress(let progress): log.append("\(Int(progress.fraction * 100)) %")
                    }
                }
            }

            /// Loads, and waits for the end.
            func answer(
                _ request: ImageRequest, wantsProgress: Bool = false
            ) async -> SlotAnswer? {
                let (answers, sink) = AsyncStream<SlotAnswer>.makeStream()
                slot.load(request, placeholder: "…", wantsProgress: wantsProgress) { answer in
                    sink.yield(answer)
                    sink.finish()
                }
                return await answers.first { $0.isFinished }
            }
        }

        /// The end of a load whose transition is interrupted is reported once, as canceled.
        @Test func case115_aTransitionThatIsCutOffNeverReportsItsEnd() async throws {
            let client = try SharedStack.current.client()
            let page = Page(client)
            let codes = Recorder<UInt16?>()
            let url = gallery.url("/case115.jpg")
            let request = ImageRequest(url, fit: 20, options: .waitTransition)
            page.slot.load(request, placeholder: "…") { answer in
                switch answer.result {
                case .success: codes.append(nil)
                case .failure(let error): codes.append(error.code.rawValue)
                }
            }
            #expect(await page.log.wait(count: 4) != nil)
            #expect(
                page.log.values == ["image: …", "spin", "rest", "image: fetched in transition"])
            #expect(codes.values == [], "the transition runs")
            page.slot.cancel()
            page.slot.transitionEnded()
            // The thread that delivered the image may still be busy; it then reports this as well.
            #expect(await codes.wait() == [2002])
            page.slot.cancel()
            #expect(codes.values == [2002])
        }

        /// Progress of a slot begins at zero and ends with all bytes, requested or not.
        @Test func case116_progressOfASlotReachesItsEnd() async throws {
            let page = Page(try SharedStack.current.client())
            let gate = Gate()
            let held = gallery.hold("/case116.jpg", until: gate)
            async let answer = page.answer(ImageRequest(url: held), wantsProgress: true)
            #expect(await gallery.origin.waitForRequest("/case116.jpg"))
            #expect(page.slot.state()?.progress.fraction == 0)
            gate.open()
            #expect(await answer?.cacheType == CacheTypes.none)
            let size = UInt64(gallery.image.count)
            #expect(
                page.slot.state()?.progress == SlotProgress(received: size, expected: size))
            _ = await page.answer(ImageRequest(url: gallery.url("/case116-quiet.jpg")))
            #expect(page.slot.state()?.progress == .whole)
        }

        /// A transition is used for fetched images and for disk hits, not for memory hits.
        @Test func case117_aTransitionIsForWhatWasFetchedAndWhatTheDiskHad() async throws {
            let stack = try SharedStack.current
            let client = try stack.client()
            let page = Page(client)
            let url = gallery.url("/case117.jpg")
            var request = ImageRequest(url, fit: 20, options: .waitStoreCache)
            let fetched = await page.answer(request)
            #expect(fetched?.wantsTransition == true && fetched?.cacheType == CacheTypes.none)
            request.options = []
            request.queryCacheTypes = .disk
            let disk = await page.answer(request)
            #expect(disk?.wantsTransition == true && disk?.cacheType == .disk)
            #expect(disk?.isAsynchronous == true)
            request.queryCacheTypes = .all
            let memory = await page.answer(request)
            #expect(memory?.wantsTransition == false && memory?.cacheType == .memory)
            request.options = .forceTransition
            #expect(await page.answer(request)?.wantsTransition == true)
        }

        /// An image that the client has in memory is shown at once: no placeholder, no indicator,
        /// and before the call returns.
        @Test func case119_whatIsAtHandIsShownInTheSameTurn() async throws {
            let client = try SharedStack.current.client()
            let page = Page(client)
            let request = ImageRequest(gallery.url("/case119.jpg"), fit: 20)
            let deadline = ContinuousClock.now.advanced(by: defaultTimeout)
            var pause = PollingPause()
            while client.answerAtHand(to: request) == nil, ContinuousClock.now < deadline {
                _ = try await client.load(request).response
                try await pause.wait()
            }
            let late = Recorder<Bool>()
            page.slot.load(request, placeholder: "…") { late.append($0.isAsynchronous) }
            #expect(page.log.values == ["image: memory"] && late.values == [false])
            page.slot.load(ImageRequest(gallery.hold("/case119-slow.jpg", until: Gate()), fit: 20))
            page.slot.load(request) { late.append($0.isAsynchronous) }
            let shown = ["image: memory", "image: nothing", "spin", "rest", "image: memory"]
            #expect(page.log.values == shown && late.values == [false, false])
        }
    }
}
