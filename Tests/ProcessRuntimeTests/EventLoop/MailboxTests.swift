import Linux
import ProcessRuntime
import Testing

@Suite struct MailboxTests {
    @Test func everythingThatThreadsPostArrivesOnceAndInTheirOrder() throws {
        let mailbox = try Mailbox<Post>(elementsMax: 100_000)
        for thread in 0..<4 {
            _ = try Thread(name: "poster-\(thread)") {
                for number in 0..<2_000 { _ = mailbox.post(Post(thread: thread, number: number)) }
            }
        }
        var next = [0, 0, 0, 0]
        for _ in 0..<8_000 {
            let post = try #require(try mailbox.next(milliseconds: 10_000))
            try #require(post.number == next[post.thread])
            next[post.thread] += 1
        }
        #expect(next == [2_000, 2_000, 2_000, 2_000])
        #expect(try mailbox.next(milliseconds: 0) == nil)
    }

    @Test func aFullMailboxRefuses() throws {
        let mailbox = try Mailbox<Int>(elementsMax: 2)
        #expect(mailbox.post(1) && mailbox.post(2))
        #expect(!mailbox.post(3))
        var taken: [Int] = []
        mailbox.drain(into: &taken)
        #expect(taken == [1, 2])
        #expect(mailbox.post(4))
    }

    @Test func aClosedMailboxRefusesAndHandsOverWhatItHas() throws {
        let mailbox = try Mailbox<Int>(elementsMax: 10)
        #expect(mailbox.post(1) && mailbox.post(2))
        #expect(mailbox.close() == [1, 2])
        #expect(!mailbox.post(3))
        #expect(mailbox.isEmpty && mailbox.close().isEmpty)
    }
}

private struct Post: Sendable {
    var thread: Int
    var number: Int
}
