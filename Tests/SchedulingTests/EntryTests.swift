import Model
import Testing

@testable import Coordinator

/// Operator commands on single cache entries.
@Suite struct EntryTests {
    private var stack = Stack(.cache, credit: 4)

    @Test mutating func aQuestionIsAJobOfTheCacheAndIsAnswered() {
        stack.ask(1, .contains, "k")
        stack.ask(2, .remove, "k")
        for (held, work) in zip(stack.held(.query), stack.entries) {
            stack.finish(held, .entry(work.action == .contains ? .disk : .all))
        }
        #expect(stack.answers == [1: .tiers(.disk), 2: .tiers(.all)])
        #expect(stack.isDone)
    }

    /// An operator may have at most 1,024 pending commands; each answer frees a slot.
    @Test mutating func anAnswerMakesRoomForAnotherQuestion() {
        for number in 1...1_024 as ClosedRange<UInt64> {
            stack.ask(number, .contains, "k\(number)")
        }
        #expect(stack.answers.isEmpty)
        stack.ask(1_025, .contains, "k")
        #expect(stack.refusal(1_025)?.code == .busy)
        stack.finish(stack.held(.query)[0], .entry(.disk))
        #expect(stack.answers[1] == .tiers(.disk))
        stack.ask(1_026, .contains, "k")
        #expect(stack.answers[1_026] == nil)
        stack.end()
        #expect(stack.answers.count == 1_026)
    }

    @Test mutating func allEntriesGoTogetherAndOfNoCacheByName() {
        stack.ask(1, .clear)
        #expect(stack.entries == [EntryWork(action: .clear, key: "", tiers: .all)])
        stack.finish(.query, .entry(.memory))
        #expect(stack.answers[1] == .tiers(.memory))
        stack.ask(2, .clear, in: "x")
        stack.ask(3, .clear, "k")
        for number in [2, 3] as [UInt64] {
            #expect(stack.refusal(number)?.code == .invalidRequest, "\(number)")
        }
        #expect(stack.isDone)
    }

    @Test mutating func anEntryIsFoundByWhatRepliesShow() {
        let digest = String(repeating: "a1", count: 16)
        stack.ask(1, .contains, "http://h/a.jpg", in: "x")
        stack.ask(2, .contains, "http://h/a-Auth(\(digest)).jpg")
        stack.ask(3, .contains, "http://h/a-Auth(1).jpg")
        #expect(
            stack.entries.map(\.key) == [
                "x\u{1F}http://h/a.jpg", "http://h/a-Auth(\(digest)).jpg\u{1E}\(digest)",
                "http://h/a-Auth(1).jpg",
            ])
    }

    /// An empty key and one with a separator; selections of nothing, with a key, or for actions
    /// that take none. Clients can't confirm entries as origins do.
    @Test mutating func whatMakesNoSenseIsAnsweredAtOnce() {
        stack.ask(1, .remove)
        stack.ask(2, .remove, "a\u{1F}b")
        stack.ask(3, .removeSelected)
        stack.ask(4, .removeSelected, EntrySelection(prefix: ""))
        stack.ask(5, .count, EntrySelection(url: "http://h/\u{1F}"))
        stack.ask(6, .trim, EntrySelection(prefix: "a"))
        stack.ask(7, .list, "k", EntrySelection(prefix: "a"))
        stack.ask(8, .clear, EntrySelection(prefix: "a"))
        stack.ask(9, .renew, "k")
        #expect(stack.answers.count == 9 && stack.held(.query).isEmpty)
        #expect(stack.refusal(9)?.code == .invalidRequest)
    }

    @Test mutating func aFailureOfTheCacheIsTold() {
        stack.ask(1, .remove, "k")
        stack.fail(.query, .internalError)
        #expect(stack.refusal(1)?.code == .internalError)
    }

    @Test mutating func tiersThatNobodyAskedForAreALie() {
        stack.ask(1, .contains, "k", of: .memory)
        stack.finish(.query, .entry(.all))
        #expect(stack.expelled.count == 1)
        stack.hire(.cache, credit: 4)
        stack.finish(.query, .entry(.memory))
        #expect(stack.answers[1] == .tiers(.memory), "the next cache is asked")
    }

    @Test(arguments: [
        (EntryAction.contains, "k", JobResult.entries(EntryPage())), (.count, "", .entry(.all)),
    ]) mutating func aPageThatNobodyAskedForIsALie(
        action: EntryAction, key: String, result: JobResult
    ) {
        stack.ask(1, action, key)
        stack.finish(.query, result)
        #expect(stack.expelled.count == 1)
    }

    @Test mutating func anOperatorThatLeavesIsNotAnswered() {
        stack.ask(1, .contains, "k")
        stack.disconnect()
        stack.finishAll()
        #expect(stack.answers.isEmpty)
        #expect(stack.scheduler.isIdle)
    }

    @Test mutating func aSelectionHasACanonicalURLAndALimit() {
        stack.ask(7, .list, EntrySelection(url: "http://h/ü"))
        #expect(stack.entries.map(\.selection.url) == ["http://h/%C3%BC"])
        #expect(stack.entries.map(\.limit) == [UInt32(EntryPage.entriesMax)])
    }

    /// Scanning a million entries takes longer than the limit for a hung disk.
    @Test mutating func aJobAboutSeveralEntriesMayTakeAnHour() {
        stack.ask(1, .contains, "k")
        #expect(stack.held(.query)[0].job.millisecondsLeft == 10_000)
        stack.finish(.query, .entry(.none))
        for action in [EntryAction.removeSelected, .count, .list] {
            stack.ask(2, action, EntrySelection(prefix: "a"))
            #expect(stack.held(.query)[0].job.millisecondsLeft == 3_600_000)
            stack.finish(.query, .entries(EntryPage()))
        }
        stack.ask(3, .trim)
        stack.pass(milliseconds: 3_600_499)
        #expect(stack.allHeld[0].isCancelled == false)
        stack.pass(milliseconds: 1)
        #expect(stack.allHeld[0].isCancelled)
    }

    @Test mutating func whatAnOperatorIsShownHasTheCacheApart() throws {
        stack.ask(1, .list)
        let entry = EntryDescription(
            key: "x\u{1F}http://h/a\u{1E}0f", tier: .disk, bytes: 9, format: .jpeg,
            size: PixelSize(width: 1, height: 1))
        stack.finish(.query, .entries(EntryPage(entries: [entry])))
        let page = try #require(stack.page(1))
        #expect(page.entries.map(\.cache) == ["x"] && page.entries.map(\.key) == ["http://h/a"])
    }

    // MARK: - Work in flight

    private static let url = "http://example.org/a.jpg"

    /// A load, whose transfer fetches older bytes while entries are removed: if it is meant, it is
    /// canceled, and another one starts after the removal. Nothing is stored from the first one.
    private mutating func expectRestart(
        _ isMeant: Bool, _ action: EntryAction, _ key: String = "",
        _ selection: EntrySelection = EntrySelection(), of tiers: CacheTypes = .all,
        terms: LoadTerms = LoadTerms()
    ) {
        stack = Stack.staffed()
        stack.load(ImageRequest(url: Self.url), terms: terms)
        for _ in 0..<4 { stack.finishEach(.query) }
        let first = stack.held(.fetch).map(\.job.id)
        #expect(first.count == 1)
        stack.ask(9, action, key, selection, of: tiers)
        for _ in 0..<4 { stack.finishEach(.query) }
        let now = stack.held(.fetch).map(\.job.id)
        #expect((now != first) == isMeant, "\(action) \(key) \(selection)")
        stack.finishAll()
        #expect(stack.replies.count == 1)
        #expect(stack.isDone)
    }

    @Test mutating func aTransferBeginsAnewBehindTheRemoval() {
        expectRestart(true, .clear)
        expectRestart(true, .remove, Self.url)
        expectRestart(true, .removeSelected, "", EntrySelection(url: Self.url))
        expectRestart(true, .removeSelected, "", EntrySelection(prefix: "http://example.org/"))
        expectRestart(false, .removeSelected, "", EntrySelection(prefix: "http://example.com/"))
        let old = EntrySelection(url: Self.url, olderThanSeconds: 60)
        expectRestart(false, .removeSelected, "", old)
        expectRestart(false, .remove, "http://example.org/b.jpg")
        expectRestart(false, .clear, of: .memory)
    }

    /// By tag: of a load that has it, of one with another tag, and of one whose origin may add it.
    @Test(arguments: [
        (["shop"], false, true), (["shopping"], false, false), ([], false, false),
        ([], true, true),
    ])
    mutating func aTransferBeginsAnewBehindTheRemovalOfItsTag(
        tags: [String], takesOriginTags: Bool, isMeant: Bool
    ) {
        let terms = LoadTerms().with { ($0.tags, $0.takesOriginTags) = (tags, takesOriginTags) }
        expectRestart(isMeant, .removeSelected, "", EntrySelection(tag: "shop"), terms: terms)
    }

    /// The older bytes have arrived, and are being decoded, encoded or stored: no job that stores
    /// them is left when the removal is answered.
    @Test(arguments: [JobStage.decode, .transform, .store])
    mutating func whatIsMadeOfRemovedBytesIsNotStored(stage: JobStage) {
        stack = Stack.staffed()
        stack.load(.image(size: 50))
        for step in [JobStage.query, .query, .fetch, .decode, .transform] {
            if !stack.held(stage).isEmpty { break }
            stack.finish(step)
        }
        #expect(!stack.held(stage).isEmpty)
        stack.ask(9, .clear)
        #expect(stack.stores.isEmpty && stack.held(stage).isEmpty)
        stack.finishAll()
        #expect(stack.gets[Self.url] == 2, "the origin is asked again")
        #expect(stack.replies.count == 1)
        #expect(stack.isDone)
    }
}
