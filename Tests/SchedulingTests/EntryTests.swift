import Model
import Testing

@testable import Coordinator

/// Operator commands on single cache entries.
@Suite struct EntryTests {
    private func command(_ number: UInt64, _ action: EntryAction, _ key: String = "k")
        -> CacheCommand
    {
        CacheCommand(number: number, action: action, key: key, tiers: .all)
    }

    private func ask(_ stack: inout Stack, _ client: ClientID, _ command: CacheCommand) {
        stack.questions[command.number] = client
        stack.send(.cache(client, command))
    }

    @Test func aQuestionIsAJobOfTheCacheAndIsAnswered() {
        var stack = Stack()
        stack.hire(.cache, credit: 4)
        let client = stack.connect()
        ask(&stack, client, command(1, .contains))
        ask(&stack, client, command(2, .remove))
        for held in stack.held(.query) {
            guard case .entry(let work) = held.job.work else { continue }
            stack.finish(held, .entry(work.action == .contains ? .disk : .all))
        }
        #expect(stack.answers == [1: .tiers(.disk), 2: .tiers(.all)])
        #expect(stack.scheduler.isIdle)
        #expect(stack.faults.isEmpty)
    }

    /// An operator may have at most 1,024 pending commands; each answer frees a slot.
    @Test func anAnswerMakesRoomForAnotherQuestion() {
        var stack = Stack()
        stack.hire(.cache, credit: 4)
        let client = stack.connect()
        for number in 1...1_024 as ClosedRange<UInt64> {
            ask(&stack, client, command(number, .contains, "k\(number)"))
        }
        #expect(stack.answers.isEmpty)
        ask(&stack, client, command(1_025, .contains, "k"))
        guard case .failure(let error)? = stack.answers[1_025] else {
            Issue.record("one question too many was taken")
            return
        }
        #expect(error.code == .busy)
        stack.finish(stack.held(.query)[0], .entry(.disk))
        #expect(stack.answers[1] == .tiers(.disk))
        ask(&stack, client, command(1_026, .contains, "k"))
        #expect(stack.answers[1_026] == nil)
        stack.finishAll()
        #expect(stack.answers.count == 1_026)
        #expect(stack.isAtRest)
    }

    @Test func allEntriesGoTogetherAndOfNoCacheByName() {
        var stack = Stack()
        stack.hire(.cache, credit: 4)
        let client = stack.connect()
        ask(&stack, client, command(1, .clear, ""))
        let works = stack.held(.query).compactMap { held -> EntryWork? in
            if case .entry(let work) = held.job.work { work } else { nil }
        }
        #expect(works == [EntryWork(action: .clear, key: "", tiers: .all)])
        stack.finish(.query, .entry(.memory))
        #expect(stack.answers[1] == .tiers(.memory))
        var named = command(2, .clear, "")
        named.cache = "x"
        ask(&stack, client, named)
        ask(&stack, client, command(3, .clear))
        for number in [2, 3] as [UInt64] {
            guard case .failure(let error)? = stack.answers[number] else {
                Issue.record("\(number) was taken")
                continue
            }
            #expect(error.code == .invalidRequest)
        }
        #expect(stack.scheduler.isIdle)
        #expect(stack.faults.isEmpty)
    }

    @Test func anEntryIsFoundByWhatRepliesShow() {
        var stack = Stack()
        stack.hire(.cache, credit: 4)
        let client = stack.connect()
        var inCache = command(1, .contains, "http://h/a.jpg")
        inCache.cache = "x"
        ask(&stack, client, inCache)
        let digest = String(repeating: "a1", count: 16)
        ask(&stack, client, command(2, .contains, "http://h/a-Auth(\(digest)).jpg"))
        ask(&stack, client, command(3, .contains, "http://h/a-Auth(1).jpg"))
        let keys = stack.held(.query).compactMap { held in
            if case .entry(let work) = held.job.work { work.key } else { nil }
        }
        #expect(
            keys == [
                "x\u{1F}http://h/a.jpg", "http://h/a-Auth(\(digest)).jpg\u{1E}\(digest)",
                "http://h/a-Auth(1).jpg",
            ])
    }

    @Test func whatMakesNoSenseIsAnsweredAtOnce() {
        var stack = Stack()
        stack.hire(.cache, credit: 4)
        let client = stack.connect()
        ask(&stack, client, command(1, .remove, ""))
        ask(&stack, client, command(2, .remove, "a\u{1F}b"))
        #expect(stack.answers.count == 2)
        #expect(stack.held(.query).isEmpty)
    }

    @Test func aFailureOfTheCacheIsTold() {
        var stack = Stack()
        stack.hire(.cache, credit: 4)
        let client = stack.connect()
        ask(&stack, client, command(1, .remove))
        stack.fail(.query, .internalError)
        guard case .failure(let error) = stack.answers[1] else {
            Issue.record("an answer")
            return
        }
        #expect(error.code == .internalError)
    }

    @Test func tiersThatNobodyAskedForAreALie() {
        var stack = Stack()
        stack.hire(.cache, credit: 4)
        let client = stack.connect()
        let command = CacheCommand(number: 1, action: .contains, key: "k", tiers: .memory)
        ask(&stack, client, command)
        stack.finish(.query, .entry(.all))
        #expect(stack.expelled.count == 1)
        stack.hire(.cache, credit: 4)
        stack.finish(.query, .entry(.memory))
        #expect(stack.answers[1] == .tiers(.memory), "the next cache is asked")
    }

    @Test func anOperatorThatLeavesIsNotAnswered() {
        var stack = Stack()
        stack.hire(.cache, credit: 4)
        let client = stack.connect()
        ask(&stack, client, command(1, .contains))
        stack.disconnect(client)
        stack.finishAll()
        #expect(stack.answers.isEmpty)
        #expect(stack.scheduler.isIdle)
    }

    private func selected(_ number: UInt64, _ selection: EntrySelection, _ action: EntryAction)
        -> CacheCommand
    {
        CacheCommand(number: number, action: action, key: "", selection: selection)
    }

    @Test func aSelectionIsOfEntriesAndNeverOfNone() {
        var stack = Stack()
        stack.hire(.cache, credit: 9)
        let client = stack.connect()
        ask(&stack, client, selected(1, EntrySelection(), .removeSelected))
        ask(&stack, client, selected(2, EntrySelection(prefix: ""), .removeSelected))
        ask(&stack, client, selected(3, EntrySelection(url: "http://h/\u{1F}"), .count))
        ask(&stack, client, selected(4, EntrySelection(prefix: "a"), .trim))
        var keyed = selected(5, EntrySelection(prefix: "a"), .list)
        keyed.key = "k"
        ask(&stack, client, keyed)
        var cleared = selected(6, EntrySelection(prefix: "a"), .clear)
        cleared.key = ""
        ask(&stack, client, cleared)
        #expect(stack.answers.count == 6 && stack.held(.query).isEmpty)
        ask(&stack, client, selected(7, EntrySelection(url: "http://h/ü"), .list))
        let works = stack.held(.query).compactMap { held -> EntryWork? in
            if case .entry(let work) = held.job.work { work } else { nil }
        }
        #expect(works.map(\.selection.url) == ["http://h/%C3%BC"])
        #expect(works.map(\.limit) == [UInt32(EntryPage.entriesMax)])
    }

    /// Scanning a million entries takes longer than the limit for a hung disk.
    @Test func aJobAboutSeveralEntriesMayTakeAnHour() {
        var stack = Stack()
        stack.hire(.cache, credit: 9)
        let client = stack.connect()
        ask(&stack, client, command(1, .contains))
        #expect(stack.held(.query)[0].job.millisecondsLeft == 10_000)
        stack.finish(.query, .entry(.none))
        for (number, action) in [EntryAction.removeSelected, .count, .list].enumerated() {
            let number = UInt64(number + 2)
            ask(&stack, client, selected(number, EntrySelection(prefix: "a"), action))
            #expect(stack.held(.query)[0].job.millisecondsLeft == 3_600_000)
            stack.finish(.query, .entries(EntryPage()))
        }
        ask(&stack, client, selected(5, EntrySelection(), .trim))
        stack.pass(milliseconds: 3_600_499)
        #expect(stack.allHeld[0].isCancelled == false)
        stack.pass(milliseconds: 1)
        #expect(stack.allHeld[0].isCancelled)
    }

    @Test func whatAnOperatorIsShownHasTheCacheApart() {
        var stack = Stack()
        stack.hire(.cache, credit: 4)
        let client = stack.connect()
        ask(&stack, client, selected(1, EntrySelection(), .list))
        let entry = EntryDescription(
            key: "x\u{1F}http://h/a\u{1E}0f", tier: .disk, bytes: 9, format: .jpeg,
            size: PixelSize(width: 1, height: 1))
        stack.finish(.query, .entries(EntryPage(entries: [entry])))
        guard case .page(let page) = stack.answers[1] else {
            Issue.record("a page")
            return
        }
        #expect(page.entries.map(\.cache) == ["x"] && page.entries.map(\.key) == ["http://h/a"])
    }

    @Test func aPageThatNobodyAskedForIsALie() {
        for (action, result) in [
            (EntryAction.contains, JobResult.entries(EntryPage())), (.count, .entry(.all)),
        ] {
            var stack = Stack()
            stack.hire(.cache, credit: 4)
            let client = stack.connect()
            ask(
                &stack, client, action == .count ? selected(1, .init(), .count) : command(1, action)
            )
            stack.finish(.query, result)
            #expect(stack.expelled.count == 1)
        }
    }

    // MARK: - Work in flight

    /// Commands that match the entries of `http://example.org/a.jpg`, and others.
    private static let removals: [(CacheCommand, isMeant: Bool)] = [
        (CacheCommand(number: 9, action: .clear, key: ""), true),
        (CacheCommand(number: 9, action: .remove, key: url), true),
        (
            CacheCommand(
                number: 9, action: .removeSelected, key: "", selection: EntrySelection(url: url)),
            true
        ),
        (
            CacheCommand(
                number: 9, action: .removeSelected, key: "",
                selection: EntrySelection(prefix: "http://example.org/")), true
        ),
        (
            CacheCommand(
                number: 9, action: .removeSelected, key: "",
                selection: EntrySelection(prefix: "http://example.com/")), false
        ),
        (
            CacheCommand(
                number: 9, action: .removeSelected, key: "",
                selection: EntrySelection(url: url, olderThanSeconds: 60)), false
        ),
        (CacheCommand(number: 9, action: .remove, key: "http://example.org/b.jpg"), false),
        (CacheCommand(number: 9, action: .clear, key: "", tiers: .memory), false),
    ]

    private static let url = "http://example.org/a.jpg"

    /// The transfer that fetches the older bytes is canceled, and another one starts after the
    /// removal: nothing is stored from the first one.
    @Test(arguments: removals.indices)
    func aTransferBeginsAnewBehindTheRemoval(index: Int) {
        let (command, isMeant) = Self.removals[index]
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        stack.load(ImageRequest(url: Self.url), by: client)
        answerQueries(of: &stack)
        let first = stack.held(.fetch).map(\.job.id)
        #expect(first.count == 1)
        ask(&stack, client, command)
        answerQueries(of: &stack)
        let now = stack.held(.fetch).filter { !$0.isCancelled }.map(\.job.id)
        #expect((now != first) == isMeant, "\(command)")
        stack.finishAll()
        #expect(stack.replies.count == 1)
        #expect(stack.scheduler.isIdle && stack.faults.isEmpty)
    }

    /// By tag: of a load that has it, of one with another tag, and of one whose origin may add it.
    @Test(arguments: [
        (["shop"], false, true), (["shopping"], false, false), ([], false, false),
        ([], true, true),
    ])
    func aTransferBeginsAnewBehindTheRemovalOfItsTag(
        tags: [String], takesOriginTags: Bool, isMeant: Bool
    ) {
        var terms = LoadTerms()
        (terms.tags, terms.takesOriginTags) = (tags, takesOriginTags)
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        stack.load(ImageRequest(url: Self.url), by: client, terms: terms)
        answerQueries(of: &stack)
        let first = stack.held(.fetch).map(\.job.id)
        #expect(first.count == 1)
        ask(&stack, client, selected(9, EntrySelection(tag: "shop"), .removeSelected))
        answerQueries(of: &stack)
        let now = stack.held(.fetch).filter { !$0.isCancelled }.map(\.job.id)
        #expect((now != first) == isMeant)
        stack.finishAll()
        #expect(stack.replies.count == 1)
        #expect(stack.scheduler.isIdle && stack.faults.isEmpty)
    }

    /// Clients can't affect confirmations by origins.
    @Test func onlyCoordinatorsRenew() {
        var stack = Stack()
        stack.hire(.cache, credit: 9)
        let client = stack.connect()
        ask(&stack, client, command(1, .renew))
        guard case .failure(let error) = stack.answers[1] else {
            Issue.record("a failure")
            return
        }
        #expect(error.code == .invalidRequest && stack.held(.query).isEmpty)
    }

    /// Answers queries with misses until none is left.
    private func answerQueries(of stack: inout Stack) {
        for _ in 0..<4 {
            for held in stack.held(.query) { stack.finish(held) }
        }
    }

    /// The older bytes have arrived, and are being decoded, encoded or stored: no job that stores
    /// them is left when the removal is answered.
    @Test(arguments: [JobStage.decode, .transform, .store])
    func whatIsMadeOfRemovedBytesIsNotStored(stage: JobStage) {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        stack.load(.image(size: 50), by: client)
        for step in [JobStage.query, .query, .fetch, .decode, .transform] {
            if !stack.held(stage).isEmpty { break }
            stack.finish(step)
        }
        let older = stack.held(stage)
        #expect(!older.isEmpty)
        ask(&stack, client, CacheCommand(number: 9, action: .clear, key: ""))
        let stores = stack.held(.store).filter { !$0.isCancelled }
        #expect(stores.isEmpty, "\(stores)")
        #expect(stack.held(stage).allSatisfy { $0.isCancelled })
        stack.finishAll()
        #expect(stack.gets[Self.url] == 2, "the origin is asked again")
        #expect(stack.replies.count == 1)
        #expect(stack.scheduler.isIdle && stack.faults.isEmpty)
    }
}
