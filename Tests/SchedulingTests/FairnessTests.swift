import Model
import Testing

@testable import Coordinator

/// Which of several clients is served next.
struct FairnessTests {
    private var stack = Stack()

    /// Loads of a client, numbered from 0.
    private mutating func load(
        _ name: String, _ numbers: Range<Int>, by client: ClientID, httpClient: UInt64 = 0,
        size: Int? = nil
    ) {
        for number in numbers {
            stack.load(.loader("\(name)\(number)", size: size), by: client, httpClient: httpClient)
        }
    }

    @Test(arguments: [false, true])
    mutating func aNewcomerDoesNotWaitForThousandsOfJobsOfAnother(isSameClient: Bool) {
        stack = Stack(.download) { $0.requestsPerClientMax = 20_000 }
        let busy = stack.connect()
        let newcomer = isSameClient ? busy : stack.connect()
        let count = isSameClient ? 5_000 : 10_000
        load("b", 0..<count, by: busy, httpClient: isSameClient ? 1 : 0)
        _ = stack.fetchOrder(atMost: 100)
        stack.load(.loader("new"), by: newcomer, httpClient: isSameClient ? 2 : 0)
        let next = stack.fetchOrder(atMost: 3)
        #expect(next.contains("new"), "\(next)")
    }

    /// A client gets nothing for the time in which it requested nothing: it takes turns with one
    /// that has been served for a while, instead of being served first as often.
    @Test mutating func aClientThatReturnsIsServedInTurn() {
        stack = Stack(.download)
        let (busy, late) = (stack.connect(), stack.connect())
        load("b", 0..<30, by: busy)
        _ = stack.fetchOrder(atMost: 20)
        load("n", 0..<4, by: late)
        let next = stack.fetchOrder(atMost: 8)
        #expect(next == ["b20", "n0", "b21", "n1", "b22", "n2", "b23", "n3"])
    }

    @Test mutating func clientsAreServedInTurnHoweverMuchTheyAskFor() {
        let (first, second) = (stack.connect(), stack.connect())
        load("a", 0..<6, by: first)
        load("b", 0..<3, by: second)
        stack.hire(.download)
        #expect(stack.fetchOrder() == ["a0", "b0", "a1", "b1", "a2", "b2", "a3", "a4", "a5"])
    }

    @Test mutating func visitorsOfOneClientAreServedInTurn() {
        let (gateway, other) = (stack.connect(), stack.connect())
        load("a", 0..<6, by: gateway, httpClient: 7)
        load("b", 0..<3, by: gateway, httpClient: 9)
        load("c", 0..<3, by: other)
        stack.hire(.download)
        // The gateway gets the turns of one client, however many HTTP clients it names.
        #expect(
            stack.fetchOrder() == [
                "a0", "c0", "b0", "c1", "a1", "c2", "b1", "a2", "b2", "a3", "a4", "a5",
            ])
    }

    /// The decoder ends each job of these loads, whose bodies have their lengths. Returns those in
    /// the order in which it got them.
    private mutating func decodeOrder(
        lengths: (String) -> UInt64, _ end: (inout Stack, Stack.Held, Int) -> Void
    ) -> [UInt64] {
        for held in stack.held(.fetch) {
            let name = stack.fetchNames[0]
            stack.finish(held, stack.success(held, length: lengths(name)))
        }
        stack.hire(.decode)
        var order: [UInt64] = []
        while let held = stack.held(.decode).first {
            order.append(held.work.input?.length ?? 0)
            end(&stack, held, order.count)
        }
        return order
    }

    @Test mutating func whoWaitsIsChargedByCostAndNotByTheNumberOfJobs() {
        stack = Stack { $0.dispatch.fetchesPerHostMax = 0 }
        let (large, small) = (stack.connect(), stack.connect())
        stack.hire(.download, credit: 16)
        load("L", 0..<2, by: large, size: 3)
        load("s", 0..<6, by: small, size: 3)
        let order = decodeOrder(lengths: { $0.hasPrefix("L") ? 4_000 : 1_000 }) { stack, held, _ in
            stack.fail(held, .unsupportedFormat)
        }
        #expect(order == [4_000, 1_000, 1_000, 1_000, 1_000, 4_000, 1_000, 1_000])
        #expect(stack.faults == [])
    }

    /// A client whose images crash decoders waits behind the others each time.
    @Test(arguments: [CrashRecord.Cause.signal(6), .cancelledHard])
    mutating func aVisitorPaysForTheWorkersThatItsImagesEnd(_ cause: CrashRecord.Cause) {
        stack = Stack(.download, credit: 16)
        let gateway = stack.connect()
        load("a", 0..<3, by: gateway, httpClient: 7, size: 3)
        load("b", 0..<3, by: gateway, httpClient: 9, size: 3)
        // The length identifies the image.
        let names = stack.fetchNames
        let order = decodeOrder(lengths: { 1_000 + UInt64(names.firstIndex(of: $0) ?? 0) }) {
            if $2 == 1 { $0.crash(.decode, cause) } else { $0.fail($1, .unsupportedFormat) }
        }
        #expect(
            order.map { names[Int($0) - 1_000] } == ["a0", "b0", "b1", "b2", "a1", "a2", "a0"])
        #expect(stack.faults == [])
    }

    @Test mutating func whoLeavesOnlyOneOfManyJobsDoesNotPayForTheOthers() {
        stack = Stack(.download)
        let (first, second) = (stack.connect(), stack.connect())
        var tokens: [Token] = []
        for number in 0..<100 {
            tokens.append(stack.load(.loader("a\(number)"), by: first))
            stack.load(.loader("b\(number)"), by: second)
        }
        for token in tokens[1..<99] { stack.cancel(token, by: first) }
        #expect(stack.fetchOrder(atMost: 3).contains("a99"))
    }

    @Test mutating func sharedWorkGoesWithTheFlowThatIsServedSooner() {
        let (busy, other) = (stack.connect(), stack.connect())
        load("a", 0..<50, by: busy)
        let joined = stack.load(.loader("a49"), by: other)
        stack.hire(.download)
        #expect(stack.fetchOrder(atMost: 2) == ["a0", "a49"])
        #expect(stack.error(joined) == .invalidDownloadContentType)
    }

    @Test mutating func whoJoinsAndLeavesTakesItsPlaceAlong() {
        let (busy, other) = (stack.connect(), stack.connect())
        load("a", 0..<5, by: busy)
        stack.cancel(stack.load(.loader("a4"), by: other), by: other)
        stack.hire(.download)
        #expect(stack.fetchOrder() == ["a0", "a1", "a2", "a3", "a4"])
    }

    @Test mutating func aJobThatJoinedABusyFlowKeepsItsPlaceInItsOwn() {
        let (busy, other) = (stack.connect(), stack.connect())
        load("a", 0..<50, by: busy)
        for client in [other, busy] { stack.load(.loader("x"), by: client) }
        stack.hire(.download)
        #expect(stack.fetchOrder(atMost: 2) == ["a0", "x"])
    }

    @Test mutating func whatWasGivenOutBeforeGoesFirstAgain() {
        let (client, other) = (stack.connect(), stack.connect())
        stack.hire(.download)
        stack.load(.loader(), by: client)
        stack.load(.loader("b"), by: other)
        stack.replace(.download)
        #expect(stack.fetchOrder() == ["a", "b"])
    }

    @Test mutating func lastInFirstOutIsTheOrderOfUpstream() {
        stack = Stack(.download) { $0.dispatch.fetchOrder = .lifo }
        for number in 1...7 { stack.load(.loader("\(number)")) }
        var order = stack.fetchOrder(atMost: 1)
        #expect(stack.fetchNames == ["7"])
        for number in 8...14 { stack.load(.loader("\(number)")) }
        order += stack.fetchOrder()
        #expect(order == [1, 7, 14, 13, 12, 11, 10, 9, 8, 6, 5, 4, 3, 2].map(String.init))
    }

    @Test mutating func lastInFirstOutHoldsWithinAClassAndAClient() {
        stack = Stack { $0.dispatch.fetchOrder = .lifo }
        let (first, second) = (stack.connect(), stack.connect())
        for (name, client, option) in [
            ("a", first, RequestOptions.highPriority), ("b", first, .highPriority),
            ("c", first, []), ("d", second, []), ("e", first, []),
        ] {
            stack.load(.loader(name, option), by: client)
        }
        stack.hire(.download)
        #expect(stack.fetchOrder() == ["b", "a", "e", "d", "c"])
    }
}

/// The shares of the workers that one host and class low may have.
struct ShareTests {
    private var stack = Stack(.download, credit: 8)

    private func image(_ host: String, _ name: String, _ options: RequestOptions = [])
        -> ImageRequest
    {
        .loader(name, options).with { $0.url = "http://\(host)/\(name).jpg" }
    }

    @Test mutating func aBusyHostHoldsUpNoOtherAndGoesOnWithTheNext() {
        stack = Stack(.download, .download, credit: 4) { $0.dispatch.fetchesPerHostMax = 2 }
        for name in ["1", "2", "3", "4"] { stack.load(image("slow", name)) }
        stack.load(image("SLOW:80", "5"))
        stack.load(image("slow:8080", "6"))
        stack.load(image("fast", "7"))
        #expect(stack.fetchNames == ["slow/1", "slow/2", "slow:8080/6", "fast/7"])
        stack.finish(stack.held(.fetch)[1])
        #expect(stack.fetchNames == ["slow/1", "slow/3", "slow:8080/6", "fast/7"])
        #expect(stack.faults == [])
    }

    @Test mutating func aDyingTransferKeepsThePlaceOfItsHost() {
        stack = Stack(.download, credit: 4) { $0.dispatch.fetchesPerHostMax = 1 }
        let first = stack.load(image("slow", "1"))
        stack.load(image("slow", "2"))
        stack.cancel(first)
        #expect(stack.fetchNames == [])
        stack.fail(stack.allHeld[0], .cancelled)
        #expect(stack.fetchNames == ["slow/2"])
        #expect(stack.faults == [])
    }

    @Test mutating func aLostWorkerGivesThePlacesOfItsHostsBack() {
        stack = Stack { $0.dispatch.fetchesPerHostMax = 1 }
        let worker = stack.hire(.download, credit: 4)
        for name in ["1", "2"] { stack.load(image("slow", name)) }
        stack.hire(.download, credit: 4)
        #expect(stack.fetchNames == ["slow/1"])
        stack.kill(worker)
        #expect(stack.fetchNames == ["slow/1"], "again, before the others")
        stack.finishAll()
        #expect(stack.isSound)
    }

    @Test mutating func clientsTakeTurnsAtABusyHostToo() {
        stack = Stack(.download, credit: 8) { $0.dispatch.fetchesPerHostMax = 1 }
        let (first, second) = (stack.connect(), stack.connect())
        for name in ["1", "2", "3", "4"] { stack.load(image("slow", name), by: first) }
        stack.load(image("slow", "5"), by: second)
        #expect(stack.fetchOrder() == ["slow/1", "slow/2", "slow/5", "slow/3", "slow/4"])
    }

    @Test mutating func zeroIsNoLimitOfHosts() {
        stack = Stack(.download, credit: 128) { $0.dispatch.fetchesPerHostMax = 0 }
        for name in 0..<96 { stack.load(image("slow", "\(name)")) }
        #expect(stack.held(.fetch).count == 96)
    }

    @Test mutating func classLowHasAQuarterAndOthersFindAFreeWorker() {
        for name in 0..<8 { stack.load(image("h\(name)", "low", .lowPriority)) }
        #expect(stack.fetchNames == ["h0/low", "h1/low"])
        let credit = stack.scheduler.dispatcher.credit(of: .download)
        #expect(credit == WorkerCredit(window: 8, held: 2, heldLow: 2))
        let other = stack.connect()
        for name in 0..<8 { stack.load(image("n\(name)", "x"), by: other) }
        #expect(stack.fetchNames.count == 7)
        stack.finishFirst(.fetch)
        #expect(stack.fetchNames.last == "n5/x", "normal ones first")
        #expect(stack.faults == [])
    }

    // MARK: - One client's share

    /// The number of assigned transfers whose names start with that letter.
    private func count(_ name: String) -> Int {
        stack.fetchNames.count { $0.split(separator: "/")[1].hasPrefix(name) }
    }

    @Test mutating func oneClientLeavesAQuarterAndSeveralShareIt() {
        stack = Stack(.download, credit: 16)
        let (first, second, third) = (stack.connect(), stack.connect(), stack.connect())
        for number in 0..<30 { stack.load(image("h\(number)", "a"), by: first) }
        #expect(count("a") == 12)
        for number in 0..<30 { stack.load(image("h\(number)", "b"), by: second) }
        #expect(count("b") == 3)
        stack.load(image("h", "c"), by: third)
        #expect(count("c") == 1, "a client without transfers finds a slot")
        // No transfer is canceled: slots change hands as transfers end.
        for held in stack.held(.fetch).prefix(8) { stack.finish(held) }
        #expect(abs(count("a") - count("b")) <= 1, "\(stack.fetchNames)")
        #expect(stack.held(.fetch).count < 16)
        #expect(stack.isSound)
    }

    @Test mutating func oneVisitorLeavesPlacesToOthersOfItsClient() {
        stack = Stack(.download, credit: 256)
        let gateway = stack.connect()
        for number in 0..<300 { stack.load(image("h\(number)", "a"), by: gateway, httpClient: 1) }
        #expect(count("a") == 144, "three quarters of what its client may have")
        for httpClient in 2..<10 {
            stack.load(image("n\(httpClient)", "b"), by: gateway, httpClient: UInt64(httpClient))
        }
        #expect(count("b") == 8, "each finds a slot at once")
        for number in 0..<300 { stack.load(image("m\(number)", "c"), by: gateway, httpClient: 10) }
        #expect(count("c") == 30, "three quarters of the rest")
        #expect(stack.isSound)
    }

    @Test mutating func theSameHoldsForTheTransfersOfAHost() {
        stack = Stack(.download, credit: 100) { $0.dispatch.fetchesPerHostMax = 8 }
        let (first, second) = (stack.connect(), stack.connect())
        for number in 0..<30 { stack.load(image("slow", "a\(number)"), by: first) }
        #expect(count("a") == 6)
        stack.load(image("slow", "b"), by: second)
        #expect(count("b") == 1)
        stack.load(image("other", "x"), by: first)
        #expect(count("x") == 1)
        #expect(stack.faults == [])
    }

    @Test mutating func whatSeveralWantGoesWithWhoeverHasRoomForIt() {
        let (first, second) = (stack.connect(), stack.connect())
        for number in 0..<9 { stack.load(image("h\(number)", "a"), by: first) }
        #expect(!stack.fetchNames.contains("h8/a"))
        stack.load(image("h8", "a"), by: second)
        #expect(stack.fetchNames.contains("h8/a"))
        let jobs = stack.scheduler.workGraph.dispatcher.jobs.values
        let holders = jobs.filter { $0.worker != nil }.map(\.holder)
        #expect(holders.count { $0 == .session(first) } == 6)
        #expect(holders.count { $0 == .session(second) } == 1, "the served client has it")
        #expect(stack.isSound)
    }

    @Test mutating func whatComesBackCountsForWhoHadIt() {
        stack = Stack()
        let (lost, _) = (stack.hire(.download, credit: 16), stack.hire(.download, credit: 16))
        for number in 0..<24 { stack.load(image("h\(number)", "a")) }
        #expect(stack.fetchNames.count == 24)
        stack.kill(lost)
        #expect(stack.fetchNames.count == 12)
        stack.load(image("h", "b"), by: stack.connect())
        #expect(count("b") == 1)
        #expect(stack.isSound)
    }

    @Test mutating func aClientWaitsForItsOwnTransfersAndGoesOnWithThem() {
        stack = Stack(.download, credit: 4)
        for number in 0..<9 { stack.load(image("h\(number)", "a")) }
        var most = 0
        while let held = stack.held(.fetch).first {
            most = max(most, stack.held(.fetch).count)
            stack.fail(held, .invalidDownloadContentType)
        }
        #expect(most == 3)
        #expect(stack.isAtRest, "\(stack)")
    }

    /// A transfer that waits only for its client's share starts without another one having to end.
    @Test(arguments: [false, true])
    mutating func whatWaitsForAShareBeginsOnceWorkersTakeMore(isSameWorker: Bool) {
        stack = Stack()
        let worker = stack.hire(.download, credit: 4)
        for number in 0..<9 { stack.load(image("h\(number)", "a")) }
        #expect(count("a") == 3)
        if isSameWorker {
            stack.workers[worker]?.window = 8
            stack.send(.credit(worker, 4))
        } else {
            stack.hire(.download, credit: 4)
        }
        #expect(count("a") == 6)
        stack.finishAll()
        #expect(stack.isSound)
    }

    @Test mutating func oneWorkerForOneJobIsLowsToo() {
        stack = Stack(.download, credit: 1)
        stack.load(image("h", "low", .lowPriority), by: stack.connect())
        #expect(stack.fetchNames == ["h/low"])
    }

    @Test mutating func aLowJobThatIsRaisedGoesAtOnce() {
        stack = Stack(.download, credit: 4)
        let tokens = (0..<3).map {
            stack.load(image("h\($0)", "low", .lowPriority))
        }
        #expect(stack.fetchNames == ["h0/low"])
        stack.reprioritize(tokens[2], .normal)
        #expect(stack.fetchNames == ["h0/low", "h2/low"])
        stack.load(image("h1", "low", .highPriority), by: stack.connect())
        #expect(stack.fetchNames == ["h0/low", "h1/low", "h2/low"])
        #expect(stack.faults == [])
    }
}

/// A process has one share, however many sessions it opens.
struct ProcessShareTests {
    private var stack = Stack(.download, credit: 16)

    private func image(_ name: String) -> ImageRequest {
        .loader(name).with { $0.url = "http://\(name)/\(name).jpg" }
    }

    private func count(_ letter: String) -> Int {
        stack.fetchNames.count { $0.hasPrefix(letter) }
    }

    @Test mutating func sixtyFourSessionsOfOneProcessHoldThreeQuarters() {
        stack = Stack(.download, credit: 128)
        for number in 0..<64 {
            let session = stack.connect(process: 7)
            for more in 0..<4 { stack.load(image("a\(number)-\(more)"), by: session) }
        }
        #expect(count("a") == 96)
        let other = stack.connect(process: 8)
        for number in 0..<32 { stack.load(image("b\(number)"), by: other) }
        #expect(count("b") == 24, "three quarters of the rest")
        #expect(stack.isSound)
    }

    @Test mutating func whoseProcessNobodyKnowsHasAShareOfItsOwn() {
        let (first, second) = (stack.connect(), stack.connect())
        for number in 0..<30 { stack.load(image("a\(number)"), by: first) }
        for number in 0..<30 { stack.load(image("b\(number)"), by: second) }
        #expect(count("a") == 12 && count("b") == 3)
    }

    @Test mutating func sessionsOfOneProcessKeepNobodyFromWorkThatTheyWantToo() {
        let sessions = (0..<Flows.countMax).map { _ in stack.connect(process: 7) }
        for (number, session) in sessions.enumerated() {
            for more in 0..<8 { stack.load(image("a\(number)-\(more)"), by: session) }
        }
        for session in sessions { stack.load(image("x"), by: session) }
        #expect(count("a") == 12 && count("x") == 0)
        stack.load(image("x"), by: stack.connect(process: 8))
        #expect(count("x") == 1, "a process without transfers gets the next free slot")
        #expect(stack.isSound)
    }

    @Test mutating func sessionsOfAProcessShareItsShareEvenly() {
        stack = Stack(.download, credit: 32)
        let (first, second) = (stack.connect(process: 7), stack.connect(process: 7))
        for number in 0..<60 { stack.load(image("a\(number)"), by: first) }
        for number in 0..<60 { stack.load(image("b\(number)"), by: second) }
        #expect(count("a") == 24 && count("b") == 0)
        // No transfer is canceled: slots change hands as transfers end.
        for held in stack.held(.fetch).prefix(20) { stack.fail(held, .invalidDownloadContentType) }
        #expect(abs(count("a") - count("b")) <= 2, "\(stack.fetchNames)")
        #expect(stack.isSound)
    }

    @Test mutating func theTransfersOfAHostAreSharedOutTheSameWay() {
        stack = Stack(.download, credit: 100) { $0.dispatch.fetchesPerHostMax = 8 }
        func slow(_ name: String) -> ImageRequest {
            .loader(name).with { $0.url = "http://slow/\(name).jpg" }
        }
        for number in 0..<8 {
            let session = stack.connect(process: 7)
            for more in 0..<2 { stack.load(slow("a\(number)-\(more)"), by: session) }
        }
        #expect(stack.held(.fetch).count == 6)
        stack.load(slow("b"), by: stack.connect(process: 8))
        #expect(stack.held(.fetch).count == 7)
        #expect(stack.faults == [])
    }

    /// Queued jobs are served in turns of processes, and within a process in turns of its sessions.
    @Test mutating func processesTakeTurnsAndWithinThemSessionsDo() {
        stack = Stack()
        for number in 0..<8 {
            let session = stack.connect(process: 7)
            for more in 0..<2 { stack.load(image("a\(number)\(more)"), by: session) }
        }
        let other = stack.connect(process: 8)
        for number in 0..<4 { stack.load(image("b\(number)"), by: other) }
        stack.hire(.download)
        // The hosts have the names of the images.
        let order = stack.fetchOrder().map { $0.prefix { $0 != "/" } }
        #expect(order.prefix(8) == ["a00", "b0", "a10", "b1", "a20", "b2", "a30", "b3"])
        #expect(
            order.suffix(12).prefix(4) == ["a40", "a50", "a60", "a70"], "then the second of each")
    }
}

/// A flow that holds three jobs for each free slot stands aside. It is resumed as soon as that is
/// no longer the case, because one of its jobs ended or workers accept more jobs.
@Suite struct ShareGateTests {
    private let flow = FlowID.session(ClientID(1))
    private var queued: StageQueue.QueuedFlow { StageQueue.QueuedFlow(queue: 0, flow: flow) }

    /// A gate at which the flow holds that many jobs, and stands aside.
    private func gate(held: Int, free: Int) -> ShareGate {
        var gate = ShareGate()
        for _ in 0..<held { gate.began(flow) }
        gate.sees(free: free)
        gate.stepAside(queued)
        let ready = gate.popReady()
        #expect(ready == [] && gate.waitingCount == 1)
        return gate
    }

    @Test func moreRoomCallsWhoStandsAside() {
        var gate = gate(held: 3, free: 1)
        gate.sees(free: 2)
        #expect(!gate.isClosed(to: flow))
        let ready = gate.popReady()
        #expect(ready == [queued] && gate.waitingCount == 0)
        let again = gate.popReady()
        #expect(again == [], "once")
    }

    @Test func asMuchRoomAsBeforeOrLessCallsNobody() {
        var gate = gate(held: 3, free: 1)
        for free in [1, 0] {
            gate.sees(free: free)
            let ready = gate.popReady()
            #expect(ready == [] && gate.waitingCount == 1)
        }
        gate.sees(free: 2)
        let ready = gate.popReady()
        #expect(ready == [queued], "more than before")
    }

    @Test func moreRoomThatIsNotEnoughCallsLater() {
        var gate = gate(held: 6, free: 1)
        gate.sees(free: 2)
        let early = gate.popReady()
        #expect(early == [] && gate.waitingCount == 1)
        gate.sees(free: 3)
        let ready = gate.popReady()
        #expect(ready == [queued])
    }

    @Test func anEndCallsWhoStandsAside() {
        var gate = gate(held: 3, free: 1)
        gate.ended(flow)
        let ready = gate.popReady()
        #expect(ready == [queued] && gate.waitingCount == 0)
    }

    @Test func aPlaceStandsAsideOnce() {
        var gate = gate(held: 3, free: 1)
        gate.stepAside(queued)
        #expect(gate.waitingCount == 1)
        gate.forgetWaiting()
        #expect(gate.waitingCount == 0)
        gate.sees(free: 2)
        let ready = gate.popReady()
        #expect(ready == [])
    }

    // MARK: - Shares

    @Test(arguments: 1...8) func aFlowTakesOneMoreBelowThreeForEachThatIsFree(free: Int) {
        var share = FairShare()
        for _ in 0..<3 * free {
            #expect(share.admits(flow, free: free))
            share.occupy(flow)
        }
        #expect(!share.admits(flow, free: free))
        #expect(!share.admits(flow, free: 0))
        share.vacate(flow)
        #expect(share.admits(flow, free: free))
    }

    /// A released share is forgotten, and its flow with it.
    @Test func aShareThatWasGivenBackIsAsItWasAtFirst() {
        let sessions = (1...2).map { number in
            FlowID.client(FlowID.Session(client: ClientID(UInt64(number)), owner: .process(7)))
        }
        var share = FairShare()
        for _ in 0..<9 { share.occupy(sessions[0]) }
        #expect(share.admits(sessions[0], free: 4), "alone it has all of its owner's share")
        share.occupy(sessions[1])
        #expect(!share.admits(sessions[0], free: 4))
        share.vacate(sessions[1])
        #expect(share.admits(sessions[0], free: 4), "it is alone again")
        for _ in 0..<9 { share.vacate(sessions[0]) }
        #expect(share.count == 0)
        #expect(sessions.allSatisfy { share.count(of: $0) == 0 })
        #expect(share.count(of: sessions[0].owner) == 0)
        for _ in 0..<9 { share.occupy(sessions[1]) }
        #expect(share.admits(sessions[1], free: 4))
    }
}
