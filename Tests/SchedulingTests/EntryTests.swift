import ImageModel
import Messages
import Testing

@testable import Admission

/// What operators want of one entry of the cache.
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
}
