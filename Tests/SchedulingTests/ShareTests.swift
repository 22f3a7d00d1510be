import Model
import Testing

@testable import Coordinator

/// The shares of the workers that one host and class low may have.
struct ShareTests {
    private func image(_ host: String, _ name: String, _ options: RequestOptions = [])
        -> ImageRequest
    {
        ImageRequest.image(name, size: nil, options.union(.fromLoaderOnly)).with {
            $0.url = "http://\(host)/\(name).jpg"
        }
    }

    private func fetches(_ stack: Stack) -> [String] {
        stack.held(.fetch).compactMap {
            guard case .fetch(let work) = $0.job.work else { return nil }
            return String(work.url.dropFirst("http://".count).dropLast(".jpg".count))
        }
    }

    @Test func aBusyHostHoldsUpNoOtherAndGoesOnWithTheNext() {
        var stack = Stack { $0.dispatch.fetchesPerHostMax = 2 }
        stack.hire(.download, credit: 4)
        stack.hire(.download, credit: 4)
        let client = stack.connect()
        for name in ["1", "2", "3", "4"] { stack.load(image("slow", name), by: client) }
        stack.load(image("SLOW:80", "5"), by: client)
        stack.load(image("slow:8080", "6"), by: client)
        stack.load(image("fast", "7"), by: client)
        #expect(fetches(stack) == ["slow/1", "slow/2", "slow:8080/6", "fast/7"])
        stack.finish(stack.held(.fetch)[1])
        #expect(fetches(stack) == ["slow/1", "slow/3", "slow:8080/6", "fast/7"])
        #expect(stack.faults == [])
    }

    @Test func aDyingTransferKeepsThePlaceOfItsHost() {
        var stack = Stack { $0.dispatch.fetchesPerHostMax = 1 }
        stack.hire(.download, credit: 4)
        let client = stack.connect()
        let first = stack.load(image("slow", "1"), by: client)
        stack.load(image("slow", "2"), by: client)
        stack.send(.cancel(client, first))
        #expect(fetches(stack) == [])
        stack.finish(stack.allHeld[0], .failed(ImageError(.cancelled, "stopped")))
        #expect(fetches(stack) == ["slow/2"])
        #expect(stack.faults == [])
    }

    @Test func aLostWorkerGivesThePlacesOfItsHostsBack() {
        var stack = Stack { $0.dispatch.fetchesPerHostMax = 1 }
        let worker = stack.hire(.download, credit: 4)
        let client = stack.connect()
        for name in ["1", "2"] { stack.load(image("slow", name), by: client) }
        stack.hire(.download, credit: 4)
        #expect(fetches(stack) == ["slow/1"])
        stack.kill(worker)
        #expect(fetches(stack) == ["slow/1"], "again, before the others")
        stack.finishAll()
        #expect(stack.scheduler.audit() == [])
        #expect(stack.faults == [])
    }

    @Test func clientsTakeTurnsAtABusyHostToo() {
        var stack = Stack { $0.dispatch.fetchesPerHostMax = 1 }
        stack.hire(.download, credit: 8)
        let (first, second) = (stack.connect(), stack.connect())
        for name in ["1", "2", "3", "4"] { stack.load(image("slow", name), by: first) }
        stack.load(image("slow", "5"), by: second)
        var order: [String] = []
        while let held = stack.held(.fetch).first {
            order += fetches(stack)
            stack.finish(held, .failed(ImageError(.invalidDownloadContentType, "as told")))
        }
        #expect(order == ["slow/1", "slow/2", "slow/5", "slow/3", "slow/4"])
        #expect(stack.isAtRest)
    }

    @Test func zeroIsNoLimitOfHosts() {
        var stack = Stack { $0.dispatch.fetchesPerHostMax = 0 }
        stack.hire(.download, credit: 128)
        let client = stack.connect()
        for name in 0..<96 { stack.load(image("slow", "\(name)"), by: client) }
        #expect(stack.held(.fetch).count == 96)
    }

    @Test func classLowHasAQuarterAndOthersFindAFreeWorker() {
        var stack = Stack()
        stack.hire(.download, credit: 8)
        let client = stack.connect()
        for name in 0..<8 { stack.load(image("h\(name)", "low", .lowPriority), by: client) }
        #expect(fetches(stack) == ["h0/low", "h1/low"])
        let credit = stack.scheduler.dispatcher.credit(of: .download)
        #expect(credit == WorkerCredit(window: 8, held: 2, heldLow: 2))
        let other = stack.connect()
        for name in 0..<8 { stack.load(image("n\(name)", "x"), by: other) }
        #expect(fetches(stack).count == 7)
        stack.finish(stack.held(.fetch)[0])
        #expect(fetches(stack).last == "n5/x", "normal ones first")
        #expect(stack.faults == [])
    }

    // MARK: - One client's share

    /// The number of assigned transfers whose names start with that letter.
    private func count(_ name: String, _ stack: Stack) -> Int {
        fetches(stack).count { $0.split(separator: "/")[1].hasPrefix(name) }
    }

    @Test func oneClientLeavesAQuarterAndSeveralShareIt() {
        var stack = Stack()
        stack.hire(.download, credit: 16)
        let (first, second, third) = (stack.connect(), stack.connect(), stack.connect())
        for number in 0..<30 { stack.load(image("h\(number)", "a"), by: first) }
        #expect(count("a", stack) == 12)
        for number in 0..<30 { stack.load(image("h\(number)", "b"), by: second) }
        #expect(count("b", stack) == 3)
        stack.load(image("h", "c"), by: third)
        #expect(count("c", stack) == 1, "a client without transfers finds a slot")
        // No transfer is canceled: slots change hands as transfers end.
        for held in stack.held(.fetch).prefix(8) { stack.finish(held) }
        #expect(abs(count("a", stack) - count("b", stack)) <= 1, "\(fetches(stack))")
        #expect(stack.held(.fetch).count < 16)
        #expect(stack.scheduler.audit() == [])
        #expect(stack.faults == [])
    }

    @Test func oneVisitorLeavesPlacesToOthersOfItsClient() {
        var stack = Stack()
        stack.hire(.download, credit: 256)
        let gateway = stack.connect()
        for number in 0..<300 {
            stack.load(image("h\(number)", "a"), by: gateway, httpClient: 1)
        }
        #expect(count("a", stack) == 144, "three quarters of what its client may have")
        for httpClient in 2..<10 {
            stack.load(image("n\(httpClient)", "b"), by: gateway, httpClient: UInt64(httpClient))
        }
        #expect(count("b", stack) == 8, "each finds a slot at once")
        for number in 0..<300 {
            stack.load(image("m\(number)", "c"), by: gateway, httpClient: 10)
        }
        #expect(count("c", stack) == 30, "three quarters of the rest")
        #expect(stack.scheduler.audit() == [])
        #expect(stack.faults == [])
    }

    @Test func theSameHoldsForTheTransfersOfAHost() {
        var stack = Stack { $0.dispatch.fetchesPerHostMax = 8 }
        stack.hire(.download, credit: 100)
        let (first, second) = (stack.connect(), stack.connect())
        for number in 0..<30 { stack.load(image("slow", "a\(number)"), by: first) }
        #expect(count("a", stack) == 6)
        stack.load(image("slow", "b"), by: second)
        #expect(count("b", stack) == 1)
        stack.load(image("other", "x"), by: first)
        #expect(count("x", stack) == 1)
        #expect(stack.faults == [])
    }

    @Test func whatSeveralWantGoesWithWhoeverHasRoomForIt() {
        var stack = Stack()
        stack.hire(.download, credit: 8)
        let (first, second) = (stack.connect(), stack.connect())
        for number in 0..<9 { stack.load(image("h\(number)", "a"), by: first) }
        #expect(!fetches(stack).contains("h8/a"))
        stack.load(image("h8", "a"), by: second)
        #expect(fetches(stack).contains("h8/a"))
        let jobs = stack.scheduler.workGraph.dispatcher.jobs.values
        let holders = jobs.filter { $0.worker != nil }.map(\.holder)
        #expect(holders.count { $0 == .session(first) } == 6)
        #expect(holders.count { $0 == .session(second) } == 1, "the served client has it")
        #expect(stack.scheduler.audit() == [])
        #expect(stack.faults == [])
    }

    @Test func whatComesBackCountsForWhoHadIt() {
        var stack = Stack()
        let client = stack.connect()
        let (lost, _) = (stack.hire(.download, credit: 16), stack.hire(.download, credit: 16))
        for number in 0..<24 { stack.load(image("h\(number)", "a"), by: client) }
        #expect(fetches(stack).count == 24)
        stack.kill(lost)
        #expect(fetches(stack).count == 12)
        stack.load(image("h", "b"), by: stack.connect())
        #expect(count("b", stack) == 1)
        #expect(stack.scheduler.audit() == [])
        #expect(stack.faults == [])
    }

    @Test func aClientWaitsForItsOwnTransfersAndGoesOnWithThem() {
        var stack = Stack()
        stack.hire(.download, credit: 4)
        let client = stack.connect()
        for number in 0..<9 { stack.load(image("h\(number)", "a"), by: client) }
        var most = 0
        while let held = stack.held(.fetch).first {
            most = max(most, stack.held(.fetch).count)
            stack.finish(held, .failed(ImageError(.invalidDownloadContentType, "as told")))
        }
        #expect(most == 3)
        #expect(stack.isAtRest, "\(stack)")
    }

    /// A transfer that waits only for its client's share starts without another one having to end.
    @Test(arguments: [false, true])
    func whatWaitsForAShareBeginsOnceWorkersTakeMore(isSameWorker: Bool) {
        var stack = Stack()
        let worker = stack.hire(.download, credit: 4)
        let client = stack.connect()
        for number in 0..<9 { stack.load(image("h\(number)", "a"), by: client) }
        #expect(count("a", stack) == 3)
        if isSameWorker {
            stack.workers[worker]?.window = 8
            stack.send(.credit(worker, 4))
        } else {
            stack.hire(.download, credit: 4)
        }
        #expect(count("a", stack) == 6)
        stack.finishAll()
        #expect(stack.scheduler.audit() == [])
        #expect(stack.faults == [])
    }

    @Test func oneWorkerForOneJobIsLowsToo() {
        var stack = Stack()
        stack.hire(.download, credit: 1)
        stack.load(image("h", "low", .lowPriority), by: stack.connect())
        #expect(fetches(stack) == ["h/low"])
    }

    @Test func aLowJobThatIsRaisedGoesAtOnce() {
        var stack = Stack()
        stack.hire(.download, credit: 4)
        let client = stack.connect()
        let tokens = (0..<3).map {
            stack.load(image("h\($0)", "low", .lowPriority), by: client)
        }
        #expect(fetches(stack) == ["h0/low"])
        stack.send(.reprioritize(client, tokens[2], .normal))
        #expect(fetches(stack) == ["h0/low", "h2/low"])
        stack.load(image("h1", "low", .highPriority), by: stack.connect())
        #expect(fetches(stack) == ["h0/low", "h1/low", "h2/low"])
        #expect(stack.faults == [])
    }
}
