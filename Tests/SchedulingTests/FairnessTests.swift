import Model
import Testing

@testable import Coordinator

/// Which of several clients is served next.
struct FairnessTests {
    private func name(_ held: Stack.Held?) -> String {
        guard let held, case .fetch(let work) = held.job.work else { return "" }
        return String(work.url.dropFirst("http://example.org/".count).dropLast(".jpg".count))
    }

    /// The jobs assigned to the only download worker, in order.
    private func order(_ stack: inout Stack, atMost count: Int = .max) -> [String] {
        var order: [String] = []
        while order.count < count, let next = stack.held(.fetch).first {
            order.append(name(next))
            stack.finish(next, .failed(ImageError(.invalidDownloadContentType, "as told")))
        }
        return order
    }

    @Test func aNewcomerDoesNotWaitForTenThousandJobsOfAnother() {
        var stack = Stack { $0.requestsPerClientMax = 20_000 }
        stack.hire(.download)
        let (busy, newcomer) = (stack.connect(), stack.connect())
        for number in 0..<10_000 {
            stack.load(.image("b\(number)", size: nil, .fromLoaderOnly), by: busy)
        }
        _ = order(&stack, atMost: 100)
        stack.load(.image("new", size: nil, .fromLoaderOnly), by: newcomer)
        let next = order(&stack, atMost: 3)
        #expect(next.contains("new"), "\(next)")
        #expect(stack.faults == [])
    }

    /// A client gets nothing for the time in which it requested nothing: it takes turns with one
    /// that has been served for a while, instead of being served first as often.
    @Test func aClientThatReturnsIsServedInTurn() {
        var stack = Stack()
        stack.hire(.download)
        let (busy, late) = (stack.connect(), stack.connect())
        for number in 0..<30 {
            stack.load(.image("b\(number)", size: nil, .fromLoaderOnly), by: busy)
        }
        _ = order(&stack, atMost: 20)
        for number in 0..<4 {
            stack.load(.image("n\(number)", size: nil, .fromLoaderOnly), by: late)
        }
        let next = order(&stack, atMost: 8)
        #expect(next == ["b20", "n0", "b21", "n1", "b22", "n2", "b23", "n3"])
        #expect(stack.faults == [])
    }

    @Test func clientsAreServedInTurnHoweverMuchTheyAskFor() {
        var stack = Stack()
        let (first, second) = (stack.connect(), stack.connect())
        for number in 0..<6 {
            stack.load(.image("a\(number)", size: nil, .fromLoaderOnly), by: first)
        }
        for number in 0..<3 {
            stack.load(.image("b\(number)", size: nil, .fromLoaderOnly), by: second)
        }
        stack.hire(.download)
        #expect(
            order(&stack) == ["a0", "b0", "a1", "b1", "a2", "b2", "a3", "a4", "a5"])
        #expect(stack.isAtRest)
    }

    @Test func visitorsOfOneClientAreServedInTurn() {
        var stack = Stack()
        let (gateway, other) = (stack.connect(), stack.connect())
        for number in 0..<6 {
            stack.load(.image("a\(number)", size: nil, .fromLoaderOnly), by: gateway, httpClient: 7)
        }
        for number in 0..<3 {
            stack.load(.image("b\(number)", size: nil, .fromLoaderOnly), by: gateway, httpClient: 9)
        }
        for number in 0..<3 {
            stack.load(.image("c\(number)", size: nil, .fromLoaderOnly), by: other)
        }
        stack.hire(.download)
        // The gateway gets the turns of one client, however many HTTP clients it names.
        #expect(
            order(&stack) == [
                "a0", "c0", "b0", "c1", "a1", "c2", "b1", "a2", "b2", "a3", "a4", "a5",
            ])
        #expect(stack.isAtRest)
    }

    @Test func aVisitorDoesNotWaitForTheThousandsOfAnother() {
        var stack = Stack { $0.requestsPerClientMax = 20_000 }
        stack.hire(.download)
        let gateway = stack.connect()
        for number in 0..<5_000 {
            stack.load(.image("b\(number)", size: nil, .fromLoaderOnly), by: gateway, httpClient: 1)
        }
        _ = order(&stack, atMost: 100)
        stack.load(.image("new", size: nil, .fromLoaderOnly), by: gateway, httpClient: 2)
        let next = order(&stack, atMost: 3)
        #expect(next.contains("new"), "\(next)")
        #expect(stack.faults == [])
    }

    @Test func whoWaitsIsChargedByCostAndNotByTheNumberOfJobs() {
        var stack = Stack { $0.dispatch.fetchesPerHostMax = 0 }
        let (large, small) = (stack.connect(), stack.connect())
        stack.hire(.download, credit: 16)
        for number in 0..<2 {
            stack.load(.image("L\(number)", size: 3, .fromLoaderOnly), by: large)
        }
        for number in 0..<6 {
            stack.load(.image("s\(number)", size: 3, .fromLoaderOnly), by: small)
        }
        for held in stack.held(.fetch) {
            let length: UInt64 = name(held).hasPrefix("L") ? 4_000 : 1_000
            stack.finish(held, stack.success(held, length: length))
        }
        stack.hire(.decode)
        var lengths: [UInt64] = []
        while let held = stack.held(.decode).first {
            lengths.append((held.job.work.input?.length ?? 0) / 1_000)
            stack.finish(held, .failed(ImageError(.unsupportedFormat, "as told")))
        }
        #expect(lengths == [4, 1, 1, 1, 1, 4, 1, 1])
        #expect(stack.faults == [])
    }

    /// A client whose images crash decoders waits behind the others each time.
    @Test(arguments: [CrashRecord.Cause.signal(6), .cancelledHard])
    func aVisitorPaysForTheWorkersThatItsImagesEnd(_ cause: CrashRecord.Cause) {
        var stack = Stack()
        stack.hire(.download, credit: 16)
        let gateway = stack.connect()
        for number in 0..<3 {
            stack.load(.image("a\(number)", size: 3, .fromLoaderOnly), by: gateway, httpClient: 7)
        }
        for number in 0..<3 {
            stack.load(.image("b\(number)", size: 3, .fromLoaderOnly), by: gateway, httpClient: 9)
        }
        var sources: [UInt64: String] = [:]
        for held in stack.held(.fetch) {
            // The length identifies the image.
            let length = UInt64(1_000 + sources.count)
            sources[length] = name(held)
            stack.finish(held, stack.success(held, length: length))
        }
        stack.hire(.decode)
        var order: [String] = []
        while let held = stack.held(.decode).first {
            order.append(sources[held.job.work.input?.length ?? 0] ?? "")
            if order.count == 1 {
                stack.kill(
                    held.worker,
                    crash: CrashRecord(
                        job: held.job.id, attempt: held.job.attempt, cause: cause))
                stack.hire(.decode)
            } else {
                stack.finish(held, .failed(ImageError(.unsupportedFormat, "as told")))
            }
        }
        #expect(order == ["a0", "b0", "b1", "b2", "a1", "a2", "a0"])
        #expect(stack.faults == [])
    }

    @Test func whoLeavesOnlyOneOfManyJobsDoesNotPayForTheOthers() {
        var stack = Stack()
        stack.hire(.download)
        let (first, second) = (stack.connect(), stack.connect())
        var tokens: [Token] = []
        for number in 0..<100 {
            tokens.append(
                stack.load(.image("a\(number)", size: nil, .fromLoaderOnly), by: first))
            stack.load(.image("b\(number)", size: nil, .fromLoaderOnly), by: second)
        }
        for token in tokens[1..<99] { stack.send(.cancel(first, token)) }
        #expect(order(&stack, atMost: 3).contains("a99"))
        #expect(stack.faults == [])
    }

    @Test func sharedWorkGoesWithTheFlowThatIsServedSooner() {
        var stack = Stack()
        let (busy, other) = (stack.connect(), stack.connect())
        for number in 0..<50 {
            stack.load(.image("a\(number)", size: nil, .fromLoaderOnly), by: busy)
        }
        let joined = stack.load(.image("a49", size: nil, .fromLoaderOnly), by: other)
        stack.hire(.download)
        #expect(order(&stack, atMost: 2) == ["a0", "a49"])
        #expect(stack.error(joined) == .invalidDownloadContentType)
        #expect(stack.faults == [])
    }

    @Test func whoJoinsAndLeavesTakesItsPlaceAlong() {
        var stack = Stack()
        let (busy, other) = (stack.connect(), stack.connect())
        for number in 0..<5 {
            stack.load(.image("a\(number)", size: nil, .fromLoaderOnly), by: busy)
        }
        let joined = stack.load(.image("a4", size: nil, .fromLoaderOnly), by: other)
        stack.send(.cancel(other, joined))
        stack.hire(.download)
        #expect(order(&stack) == ["a0", "a1", "a2", "a3", "a4"])
        #expect(stack.isAtRest)
    }

    @Test func aJobThatJoinedABusyFlowKeepsItsPlaceInItsOwn() {
        var stack = Stack()
        let (busy, other) = (stack.connect(), stack.connect())
        for number in 0..<50 {
            stack.load(.image("a\(number)", size: nil, .fromLoaderOnly), by: busy)
        }
        stack.load(.image("x", size: nil, .fromLoaderOnly), by: other)
        stack.load(.image("x", size: nil, .fromLoaderOnly), by: busy)
        stack.hire(.download)
        #expect(order(&stack, atMost: 2) == ["a0", "x"])
        #expect(stack.faults == [])
    }

    @Test func whatWasGivenOutBeforeGoesFirstAgain() {
        var stack = Stack()
        let client = stack.connect()
        let other = stack.connect()
        let worker = stack.hire(.download)
        stack.load(.image("a", size: nil, .fromLoaderOnly), by: client)
        stack.load(.image("b", size: nil, .fromLoaderOnly), by: other)
        stack.kill(worker)
        stack.hire(.download)
        #expect(order(&stack) == ["a", "b"])
        #expect(stack.isAtRest)
    }

    @Test func lastInFirstOutIsTheOrderOfUpstream() {
        var stack = Stack { $0.dispatch.fetchOrder = .lifo }
        stack.hire(.download)
        let client = stack.connect()
        func load(_ numbers: ClosedRange<Int>) {
            for number in numbers {
                stack.load(.image("\(number)", size: nil, .fromLoaderOnly), by: client)
            }
        }
        load(1...7)
        var order = order(&stack, atMost: 1)
        #expect(name(stack.held(.fetch).first) == "7")
        load(8...14)
        order += self.order(&stack)
        #expect(order == [1, 7, 14, 13, 12, 11, 10, 9, 8, 6, 5, 4, 3, 2].map(String.init))
        #expect(stack.isAtRest)
    }

    @Test func lastInFirstOutHoldsWithinAClassAndAClient() {
        var stack = Stack { $0.dispatch.fetchOrder = .lifo }
        let (first, second) = (stack.connect(), stack.connect())
        for (name, client, option) in [
            ("a", first, RequestOptions.highPriority), ("b", first, .highPriority),
            ("c", first, []), ("d", second, []), ("e", first, []),
        ] {
            stack.load(.image(name, size: nil, [.fromLoaderOnly, option]), by: client)
        }
        stack.hire(.download)
        #expect(order(&stack) == ["b", "a", "e", "d", "c"])
        #expect(stack.isAtRest)
    }
}
