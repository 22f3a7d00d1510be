import Synchronization

extension RealProcesses {
    /// One slot, used from many threads and from its own callbacks, with real loads.
    @Suite struct ImageSlotTests {
        private let origin = OriginServer()

        private func withSlots(
            _ body: (ImagebusClient) async throws -> Void
        ) async throws {
            let image = try Images.waves(width: 40, height: 30).jpeg(quality: 80)
            origin.route("/*", .jpeg(image))
            let arguments = ["--allow-private-networks", "--low-speed", "0"]
            try await withStack(arguments, decoders: 1) { stack in
                try await body(stack.client())
                try await stack.awaitIdle()
            }
        }

        private func request(_ number: Int) -> ImageRequest {
            ImageRequest(url: origin.url("/\(number % 10).jpg"))
        }

        /// Callbacks in the order in which they were called.
        private enum Observed: Equatable {
            case placeholder(Int?)
            case image
            case end(Int)
        }

        /// However threads interleave, each load ends once, its callbacks come before its end, and
        /// the last callbacks are those of the load begun last.
        @Test func manyThreadsSeeOneOrderAndEachLoadEndsOnce() async throws {
            try await withSlots { client in
                let observed = Recorder<Observed>()
                let inside = Mutex(0)
                let slot = ImageSlot<Int>(client, on: .inline) { _, change in
                    let others = inside.withLock { count in
                        count += 1
                        return count
                    }
                    #expect(others == 1, "changes must not overlap")
                    switch change {
                    case .placeholder(let number): observed.append(.placeholder(number))
                    case .image: observed.append(.image)
                    case .indicator, .progress: break
                    }
                    inside.withLock { $0 -= 1 }
                }
                let (threads, each) = (8, 100)
                await withTaskGroup { group in
                    for thread in 0..<threads {
                        group.addTask {
                            for step in 0..<each {
                                let number = thread * each + step
                                slot.load(request(number), placeholder: number) { answer in
                                    #expect(answer.isFinished)
                                    observed.append(.end(number))
                                }
                                if number % 7 == 0 { slot.cancel() }
                            }
                        }
                    }
                }
                slot.load(request(3), placeholder: -1) { _ in observed.append(.end(-1)) }
                #expect(await observed.wait { $0 == .end(-1) })
                let ends = observed.values.compactMap { observed -> Int? in
                    if case .end(let number) = observed { number } else { nil }
                }
                #expect(ends.sorted() == Array(-1..<(threads * each)))
                #expect(ends.last == -1 && observed.values.suffix(2).first == .image)
                #expect(slot.state()?.loads == 0)
                // A load's end comes after its placeholder and before the end of the next load.
                var running: Int?
                for event in observed.values {
                    switch event {
                    case .placeholder(let number):
                        #expect(running == nil, "the previous load hasn't ended")
                        running = number
                    case .end(let number): running = running == number ? nil : running
                    case .image: break
                    }
                }
                #expect(running == nil)
            }
        }

        /// Callbacks may begin loads; a long chain of hits doesn't grow the stack.
        @Test func aCallbackMayBeginTheNextLoad() async throws {
            try await withSlots { client in
                let hit = request(0)
                _ = try await client.learn(hit)
                let done = Gate()
                let shown = Mutex(0)
                let slot = ImageSlot<Never>(client, on: .inline) { _, change in
                    if case .image = change { shown.withLock { $0 += 1 } }
                }
                let chain = Chain(slot, hit, length: 10_000, done)
                chain.next()
                #expect(await done.wait())
                #expect(shown.withLock { $0 } == 10_000)
            }
        }

        private final class Chain: Sendable {
            let slot: ImageSlot<Never>
            let request: ImageRequest
            let left: Mutex<Int>
            let done: Gate

            init(_ slot: ImageSlot<Never>, _ request: ImageRequest, length: Int, _ done: Gate) {
                (self.slot, self.request, self.done) = (slot, request, done)
                left = Mutex(length)
            }

            func next() {
                let isMore = left.withLock { left in
                    left -= 1
                    return left >= 0
                }
                guard isMore else { return done.open() }
                slot.load(request) { [self] _ in next() }
            }
        }

        /// Loads in flight end with their slot and report their cancellation.
        @Test func theEndOfASlotCancelsItsLoads() async throws {
            try await withSlots { client in
                let gate = Gate()
                origin.route("/held.jpg", .hangBody(until: gate, then: [1, 2, 3]))
                let codes = Recorder<UInt16?>()
                var slot: ImageSlot<Never>? = ImageSlot(client, on: .dispatch()) { _, _ in }
                for key in ["one", "two"] {
                    slot?.load(ImageRequest(url: origin.url("/held.jpg")), key: key) { answer in
                        if case .failure(let error) = answer.result {
                            codes.append(error.code.rawValue)
                        } else {
                            codes.append(nil)
                        }
                    }
                }
                #expect(await origin.waitForRequest("/held.jpg"))
                slot = nil
                #expect(codes.values == [2002, 2002])
                #expect(await origin.waitForConnectionClosed("/held.jpg"))
                gate.open()
            }
        }
    }
}
