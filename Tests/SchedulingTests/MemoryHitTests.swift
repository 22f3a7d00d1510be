import Model
import TestKit
import Testing

@testable import Coordinator

struct MemoryHitTests {
    private var stack = Stack.staffed()
    private let key = "http://example.org/a.jpg"

    @Test mutating func aHitIsAnsweredInTheSameEventWithoutAnyJob() {
        let reference = stack.publish(key)
        let token = stack.load(.image())
        #expect(stack.actions.count == 2, "a reply, and its record")
        #expect(stack.image(token)?.cacheType == .memory)
        #expect(stack.image(token)?.reference?.block == reference.block)
        #expect(stack.image(token)?.reference?.producer?.kind == .cache)
        #expect(stack.image(token)?.key == key)
        #expect(stack.counters.memoryHits == 1)
        #expect(stack.isAtRest)
    }

    @Test mutating func factsOfAHitComeWithoutBytes() {
        stack.publish(key)
        let token = stack.load(.image().with { $0.infoOnly = true })
        #expect(stack.image(token)?.info.format == .png)
        #expect(stack.image(token)?.reference == nil)
        #expect(stack.isAtRest)
    }

    @Test mutating func useIsToldToTheCacheInBatches() {
        let count = MessageLimits.idsMax
        let blocks = (0..<count).map { stack.publish("http://example.org/\($0).jpg").block }
        for number in 0..<(count - 1) { stack.load(.image("\(number)")) }
        #expect(stack.touched == [])
        stack.load(.image("\(count - 1)"))
        #expect(stack.touched == blocks)
    }

    @Test mutating func aBlockThatIsUsedAgainAndAgainIsToldOnce() {
        stack = Stack.staffed { $0.touchedMax = 2 }
        let blocks = ["a", "b"].map { stack.publish("http://example.org/\($0).jpg").block }
        for _ in 0..<100 { stack.load(.image()) }
        #expect(stack.touched == [])
        stack.load(.image("b"))
        #expect(stack.touched == blocks)
        stack.load(.image())
        stack.pass(milliseconds: 100)
        #expect(stack.touched == blocks + [blocks[0]], "the next batch has it again")
    }

    @Test mutating func useIsToldAfterATenthOfASecond() {
        let reference = stack.publish(key)
        stack.load(.image())
        #expect(stack.scheduler.nextDeadline == stack.now.adding(milliseconds: 100))
        stack.pass(milliseconds: 99)
        #expect(stack.touched == [])
        stack.pass(milliseconds: 1)
        #expect(stack.touched == [reference.block])
        #expect(stack.scheduler.nextDeadline == nil)
    }

    @Test mutating func anEntryThatExpiredIsNoHit() {
        stack.publish(key, expiresInMilliseconds: 50)
        stack.wait(milliseconds: 49)
        let early = stack.load(.image())
        #expect(stack.image(early) != nil)
        stack.wait(milliseconds: 1)
        #expect(stack.outcome(of: .image()) == nil)
    }

    @Test mutating func anEvictedBlockIsNoHitAndAStoredOneReplacesAnother() {
        let old = stack.publish(key)
        let new = stack.publish(key)
        stack.evict(old.block)
        let hit = stack.load(.image())
        #expect(stack.image(hit)?.reference?.block == new.block)
        stack.evict(new.block)
        #expect(stack.outcome(of: .image()) == nil)
    }

    @Test(arguments: [
        ImageRequest.loader(),
        ImageRequest.image().with { $0.queryCacheTypes = .disk },
        ImageRequest.image().with { $0.queryCacheTypes = .none },
        // Extended data is not in the index, and an animation is checked before its delivery.
        ImageRequest.image().with { $0.context.wantsExtendedData = true },
        ImageRequest.image("a", size: nil, .matchAnimatedImageClass),
    ])
    mutating func whoMayNotAskMemoryGetsNoHit(image: ImageRequest) {
        stack.publish(key)
        #expect(stack.outcome(of: image) == nil)
    }

    @Test mutating func aStaleCopyInMemoryIsNotTrustedAgain() throws {
        stack.publish(key)
        let token = stack.load(.image(), staleRetries: 1)
        #expect(stack.reply(token) == nil)
        let query = try #require(stack.held(.query).first?.job.work.query)
        #expect(query.tiers == .disk)
    }

    @Test mutating func theOldestEntryMakesRoom() {
        stack = Stack.staffed { $0.hitsMax = 2 }
        for name in ["a", "b", "c"] { stack.publish("http://example.org/\(name).jpg") }
        #expect(stack.scheduler.report["indexedHits"] == 2)
        #expect(stack.outcome(of: .image()) == nil)
        let second = stack.load(.image("b"))
        #expect(stack.image(second) != nil)
        let third = stack.load(.image("c"))
        #expect(stack.image(third) != nil)
    }

    @Test mutating func aMissUnderFromCacheOnlyIsNoError() {
        let token = stack.load(.image("a", size: 5, .fromCacheOnly))
        stack.run(.query, .query)
        #expect(stack.isMiss(token))
        #expect(stack.counters.misses == 1)
        #expect(stack.isAtRest)
    }

    @Test mutating func theIndexGoesWithTheCache() {
        stack.publish(key)
        stack.replace(.cache)
        #expect(stack.scheduler.report["indexedHits"] == 0)
        #expect(stack.outcome(of: .image()) == nil)
    }

    @Test mutating func onlyTheCachePublishes() {
        let decoder = stack.worker(.decode)
        let reference = stack.block(of: decoder)
        let info = ImageInfo(format: .png, size: PixelSize(width: 1, height: 1))
        stack.send(
            .stored(
                decoder,
                StoredNotice(
                    key: key, reference: reference, info: info, expiresInMilliseconds: nil)))
        #expect(stack.gone == [decoder])
        let other = stack.worker(.transform)
        stack.send(.evicted(other, [BlockID(1)]))
        #expect(stack.gone == [decoder, other])
    }
}

struct RepeatedHitTests {
    private static let key = "http://example.org/a.jpg"
    private static let token = Token(5)
    private var stack = Stack.staffed()
    private let reference: BlockReference
    private var ticket: HitTicket

    /// A stack with one image in memory, and the ticket of a load of it.
    init() throws {
        reference = stack.publish(Self.key)
        let granted = stack.ticket(.image())
        ticket = try #require(granted)
    }

    private func answers(_ ticket: HitTicket, to client: ClientID = ClientID(1)) -> Bool {
        stack.scheduler.answer(ticket, again: Self.token, of: client, at: stack.now)
    }

    @Test mutating func aTicketSaysWhatTheWholeWaySays() {
        let whole = stack.load(.image())
        #expect(stack.image(whole) == ticket.image)
        #expect(answers(ticket))
        #expect(stack.counters.requests == 2 && stack.counters.memoryHits == 2)
        #expect(stack.scheduler.hits.touches.count == 1)
        #expect(stack.isAtRest)
    }

    private static let ends: [(String, @Sendable (inout Stack, BlockID) -> Void)] = [
        ("an eviction of its block", { $0.evict($1) }),
        ("a new entry of its key", { stack, _ in stack.publish(key) }),
        ("a load with its token", { stack, _ in stack.load(.image("b"), token: token) }),
        ("the end of its client", { stack, _ in stack.disconnect() }),
        ("a drain", { stack, _ in stack.send(.drain) }),
        ("another configuration", { stack, _ in stack.scheduler.reconfigured() }),
    ]

    @Test(arguments: ends.indices) mutating func aTicketEnds(index: Int) {
        let (what, end) = Self.ends[index]
        #expect(!answers(ticket, to: ClientID(99)), "of an unknown client")
        end(&stack, reference.block)
        let requests = stack.counters.requests
        #expect(!answers(ticket), "\(what)")
        #expect(stack.counters.requests == requests, "nothing was done")
    }

    @Test mutating func anEntryThatExpiredHasNoTicket() throws {
        stack.publish(Self.key, expiresInMilliseconds: 50)
        let granted = stack.ticket(.image())
        ticket = try #require(granted)
        stack.wait(milliseconds: 49)
        #expect(answers(ticket))
        stack.wait(milliseconds: 1)
        #expect(!answers(ticket))
        stack.send(.tick)
        #expect(stack.ticket(.image()) == nil)
    }

    /// Even if the new cache stores the same key in a block with the same ID.
    @Test mutating func theTicketsGoWithTheCache() {
        stack.kill(stack.worker(.cache))
        #expect(!answers(ticket))
        stack.hire(.cache)
        #expect(!answers(ticket))
        let again = stack.publish(Self.key)
        #expect(again.block == reference.block)
        #expect(!answers(ticket))
    }

    @Test mutating func anotherConfigurationLeavesTheEntry() throws {
        stack.scheduler.reconfigured()
        let whole = stack.load(.image())
        #expect(stack.image(whole)?.cacheType == .memory, "the entry is still valid")
        let found = stack.ticket(.image())
        let again = try #require(found)
        #expect(again != ticket && again.image == ticket.image)
        #expect(answers(again))
    }

    @Test mutating func useIsStillToldInBatches() throws {
        let count = MessageLimits.idsMax
        for number in 0..<(count - 2) {
            stack.publish("http://example.org/\(number).jpg")
            stack.load(.image("\(number)"))
        }
        for _ in 0..<100 { #expect(answers(ticket)) }
        let other = stack.publish("http://example.org/other.jpg")
        let found = stack.ticket(.image("other"))
        let last = try #require(found)
        #expect(!answers(last), "the full path notifies the cache")
        #expect(answers(ticket), "it is in the batch already")
        stack.load(.image("other"))
        #expect(stack.touched.suffix(2) == [reference.block, other.block])
        #expect(stack.touched.count == count)
        #expect(answers(last))
    }

    @Test(arguments: [
        ImageRequest.loader(),
        ImageRequest.image().with { $0.queryCacheTypes = .disk },
        ImageRequest.image().within(milliseconds: 0),
        ImageRequest.image().with { $0.url = "nonsense" },
    ])
    func whatMemoryMayNotAnswerHasNoTicket(image: ImageRequest) {
        #expect(stack.ticket(image) == nil)
    }

    /// The image can't be revalidated, so the index answers at once.
    @Test mutating func whoRefreshesWithoutALoaderIsAnsweredFromMemory() {
        let terms = LoadTerms().with { $0.mayDownload = false }
        let image = ImageRequest.image("a", .refreshCached)
        let token = stack.load(image, terms: terms)
        #expect(stack.image(token)?.cacheType == .memory)
        #expect(stack.allHeld.isEmpty)
        #expect(stack.ticket(image, terms)?.image == stack.image(token))
    }

    @Test mutating func aRepeatableHitHasAVoucherAndATicket() throws {
        let token = stack.load(.image(), isRepeatable: true)
        let image = try #require(stack.image(token))
        #expect(stack.granted.map(\.image) == [image])
        #expect(stack.granted.map(\.unvouched) == [ticket])
        #expect(image.voucher != nil && image.unvouched == ticket.image)
        #expect(answers(stack.granted[0]))
        #expect(stack.counters.requests == 2 && stack.counters.memoryHits == 2)
        #expect(stack.records[token]?.reply.outcome == .image(image))
        stack.load(.image())
        stack.load(.image(), slot: "s", isRepeatable: true)
        stack.load(.image("b"), isRepeatable: true)
        #expect(stack.granted.count == 1, "not repeatable, in a slot, a miss")
    }

    @Test func aRetryAfterAStaleCopyHasNoTicket() {
        let retry = LoadRequest(token: Self.token, image: .image(), staleRetries: 1)
        #expect(stack.ticket(for: retry, LoadTerms()) == nil)
    }
}

/// Remembered answers on their own: each event withdraws exactly the affected ones.
@Suite struct HitsTests {
    /// Tickets of five loads. Two of them are for one entry: from two profiles, which have their
    /// own failure caches, and one load that isn't subject to a failure cache.
    private enum Name: String, CaseIterable {
        case a, aOfShop, aRetried, b, c
    }

    /// The initial state of every test: three entries and five valid tickets.
    private struct Room {
        var hits: Hits
        var now = Instant(nanoseconds: 1_000_000_000)
        let cache = WorkerID(1)
        private(set) var tickets: [Name: HitTicket] = [:]

        init(_ change: (inout SchedulerLimits) -> Void = { _ in }) throws {
            var limits = SchedulerLimits()
            change(&limits)
            hits = Hits(limits)
            for (block, name) in [Name.a, .b, .c].enumerated() {
                publish(name, in: BlockID(UInt64(block + 1)), expiresIn: name == .c ? 50 : nil)
            }
            try grantAll()
        }

        mutating func grantAll() throws {
            for name in Name.allCases { tickets[name] = try ticket(name) }
        }

        private mutating func ticket(_ name: Name) throws -> HitTicket {
            let (image, terms, names) = try load(name)
            var ticket = try #require(hits.grant(image, terms, names, at: now), "\(name)")
            hits.vouch(for: &ticket)
            #expect(ticket.image.voucher != nil)
            return ticket
        }

        func load(_ name: Name) throws -> (ImageRequest, LoadTerms, RequestNames) {
            let letter = name.rawValue.prefix(1)
            var image = ImageRequest(url: "http://example.org/\(letter).jpg")
            if name == .aRetried { image.options = .retryFailed }
            var terms = LoadTerms()
            if name == .aOfShop { terms.scope = "shop" }
            return (image, terms, RequestNames(image, try SourceURL(image.url), terms))
        }

        func text(_ name: Name) throws -> String { try load(name).2.plainOriginal }

        func denial(_ name: Name, _ scope: String = "") throws -> Withdrawal {
            var (image, terms, _) = try load(name)
            terms.scope = scope
            return .denied(
                Denial(
                    source: ScopedSource(SourceKey(image), terms),
                    refusal: Refusal(ImageError(.tooManyRedirects, "too many")),
                    url: image.url, at: now, lastNumber: 6))
        }

        func handle(_ block: UInt64) -> BlockHandle {
            BlockHandle(worker: cache, block: BlockID(block))
        }

        mutating func publish(
            _ name: Name, in block: BlockID, bytes: UInt64 = 100, expiresIn: UInt64? = nil,
            _ validity: Validity? = nil
        ) {
            let reference = BlockReference(
                arena: .results, segment: 0, offset: 0, length: bytes, block: block)
            let notice = StoredNotice(
                key: "http://example.org/\(name.rawValue.prefix(1)).jpg", reference: reference,
                info: ImageInfo(format: .jpeg, size: PixelSize(width: 1, height: 1)),
                expiresInMilliseconds: expiresIn, validity: validity)
            hits.publish(notice, reference, of: cache, at: now)
        }

        /// The tickets that are no longer valid. None of them has a voucher with which a client
        /// would still repeat its answer.
        var fallen: Set<Name> {
            let fallen = tickets.filter { !hits.stands($0.value.unvouched, at: now) }
            for (name, ticket) in fallen {
                #expect(!hits.isRepeated(ticket, at: now), "\(name) would still be repeated")
            }
            return Set(fallen.map(\.key))
        }
    }

    private let allOfA: Set<Name> = [.a, .aOfShop, .aRetried]

    @Test func whatWasGrantedStands() throws {
        let room = try Room()
        #expect(room.fallen.isEmpty && room.hits.count == 3)
    }

    @Test func anEvictionWithdrawsTheEntryOfItsBlock() throws {
        let room = try Room()
        room.hits.withdraw(.evicted(room.handle(9)))
        #expect(room.fallen.isEmpty, "the block is unknown")
        room.hits.withdraw(.evicted(room.handle(1)))
        #expect(room.fallen == allOfA)
        #expect(room.hits.count == 2)
    }

    @Test func aBlockThatIsUsedAgainWithdrawsItsFormerKey() throws {
        var room = try Room()
        room.publish(.b, in: BlockID(1))
        #expect(room.fallen == allOfA.union([.b]), "b lies elsewhere now")
        #expect(room.hits.count == 2)
        room = try Room()
        room.hits.withdraw(.reused(BlockID(2)))
        #expect(room.fallen == [.b])
    }

    @Test func aKeyThatIsStoredAgainWithdrawsWhatItHad() throws {
        var room = try Room()
        room.publish(.a, in: BlockID(4))
        #expect(room.fallen == allOfA)
        #expect(room.hits.count == 3)
        let old = try #require(room.tickets[.a])
        try room.grantAll()
        #expect(room.fallen.isEmpty && room.tickets[.a] != old)
        // The block that contained it may now be freed.
        room.hits.withdraw(.evicted(room.handle(1)))
        #expect(room.fallen.isEmpty)
    }

    @Test func theOldestEntryMakesRoom() throws {
        var room = try Room { $0.hitsMax = 3 }
        room.publish(.b, in: BlockID(5))
        #expect(room.fallen == [.b], "it replaced itself")
        try room.grantAll()
        let (image, terms, _) = try room.load(.a)
        var other = image
        other.url = "http://example.org/d.jpg"
        let reference = BlockReference(
            arena: .results, segment: 0, offset: 0, length: 1, block: BlockID(6))
        room.hits.publish(
            StoredNotice(
                key: other.url, reference: reference,
                info: ImageInfo(format: .png, size: PixelSize(width: 1, height: 1)),
                expiresInMilliseconds: nil), reference, of: room.cache, at: room.now)
        #expect(room.fallen == allOfA && room.hits.count == 3)
        let names = RequestNames(other, try SourceURL(other.url), terms)
        #expect(room.hits.grant(other, terms, names, at: room.now) != nil)
    }

    @Test func theCacheTakesAllEntriesAlong() throws {
        var room = try Room()
        room.hits.touches.add(BlockID(1), at: room.now)
        room.hits.withdraw(.cacheGone(room.cache))
        #expect(room.fallen == Set(Name.allCases))
        #expect(
            room.hits.count == 0 && room.hits.touches.count == 0 && room.hits.touches.since == nil)
        // The next cache starts with the same blocks.
        room.publish(.a, in: BlockID(1))
        #expect(room.fallen == Set(Name.allCases))
    }

    @Test func aDenialWithdrawsTheAnswersOfItsSourceAndProfile() throws {
        let room = try Room()
        room.hits.withdraw(try room.denial(.a, "shop"))
        #expect(room.fallen == [.aOfShop])
        #expect(room.hits.lastDenial == 7)
        room.hits.withdraw(try room.denial(.a))
        #expect(room.fallen == [.a, .aOfShop], "retryFailed bypasses it")
        #expect(room.hits.count == 3, "other loads may use the entry")
        let (image, terms, _) = try room.load(.a)
        room.hits.forgive(ScopedSource(SourceKey(image), terms), for: image.operation)
        #expect(room.fallen == [.aOfShop])
        let forgiven = room.hits.forgive(at: room.now) { $0.isNamed(image.url) }
        #expect(forgiven == 1 && room.fallen.isEmpty)
    }

    @Test func aDenialEnds() throws {
        var room = try Room { $0.failureCacheMilliseconds = 10 }
        room.hits.withdraw(try room.denial(.b))
        #expect(room.fallen == [.b])
        room.now = room.now.adding(milliseconds: 20)
        #expect(room.fallen.isEmpty)
    }

    @Test func whatAnAnswerDependsOnWithdrawsWhatIsKeptUnderItsText() throws {
        var room = try Room()
        room.hits.withdraw(.varies(plainOriginal: try room.text(.b), ["Accept"]))
        #expect(room.fallen == [.b])
        try room.grantAll()
        #expect(room.fallen.isEmpty, "it is known now")
        room.hits.withdraw(.varies(plainOriginal: try room.text(.b), ["Accept"]))
        #expect(room.fallen.isEmpty, "nothing has changed")
        room.hits.withdraw(.varies(plainOriginal: try room.text(.b), nil))
        #expect(room.fallen == [.b])
    }

    @Test func anotherConfigurationWithdrawsTicketsAndNoEntry() throws {
        var room = try Room()
        room.hits.withdraw(.reconfigured)
        #expect(room.fallen == Set(Name.allCases))
        #expect(room.hits.count == 3)
        try room.grantAll()
        #expect(room.fallen.isEmpty)
    }

    @Test func aDrainWithdrawsAllForGood() throws {
        let room = try Room()
        room.hits.withdraw(.drained)
        #expect(room.fallen == Set(Name.allCases))
        room.hits.withdraw(.reconfigured)
        #expect(room.fallen == Set(Name.allCases))
        let (image, terms, names) = try room.load(.a)
        #expect(room.hits.grant(image, terms, names, at: room.now) == nil)
    }

    @Test func anEntryThatExpiresTakesItsAnswersAlong() throws {
        var room = try Room()
        room.now = room.now.adding(milliseconds: 49)
        #expect(room.fallen.isEmpty)
        room.now = room.now.adding(milliseconds: 1)
        #expect(room.fallen == [.c])
        let (image, terms, names) = try room.load(.c)
        #expect(room.hits.grant(image, terms, names, at: room.now) == nil)
    }

    /// Otherwise the ticket would remain usable in messages when its word is reused for another
    /// voucher.
    @Test func aTicketFallsWithItsVoucherAndMayHaveAnother() throws {
        let room = try Room { $0.vouchersMax = 5 }
        #expect(room.fallen.isEmpty)
        var ticket = try #require(room.tickets[.a])
        let other = try #require(room.tickets[.b]).unvouched
        for _ in 0..<5 {
            var next = other
            room.hits.vouch(for: &next)
        }
        #expect(!room.hits.stands(ticket, at: room.now))
        #expect(room.hits.stands(ticket.unvouched, at: room.now))
        room.hits.vouch(for: &ticket)
        #expect(room.hits.stands(ticket, at: room.now))
    }

    /// Until it becomes stale, its entry expires, or its origin changes the caching data.
    @Test(arguments: [nil, 70, 30] as [UInt64?])
    func aFreshAnswerIsRepeatedAsLongAsItsOriginSays(expiresIn: UInt64?) throws {
        var room = try Room()
        let caching = OriginCaching(CacheControl("max-age=1"), ResponseAge(bornMilliseconds: 60))
        let origin = Validity(caching: caching, etag: "\"1\"")
        room.publish(.b, in: BlockID(9), expiresIn: expiresIn, origin)
        let (image, terms, names) = try room.load(.b)
        let granted = room.hits.grant(image, terms, names, at: room.now, ifFreshAt: 1_010)
        var ticket = try #require(granted)
        room.hits.vouch(for: &ticket)
        let end = room.now.adding(milliseconds: min(50, Int(expiresIn ?? 50)))
        #expect(ticket.image.voucher?.until == end)
        #expect(room.hits.isRepeated(ticket, at: room.now))
        let confirmation = Confirmation(
            caching: OriginCaching(CacheControl("no-cache"), ResponseAge(bornMilliseconds: 1_010)),
            isWhole: true)
        let text = try room.text(.b)
        room.hits.withdraw(.confirmed(plainOriginal: text, BodyMark(origin), confirmation))
        #expect(!room.hits.stands(ticket.unvouched, at: room.now))
        #expect(!room.hits.isRepeated(ticket, at: room.now))
    }

    /// Its answer depends on the client's own copy; the entry can still be used.
    @Test func aLargeResultHasNoTicketAndIsFreeOnceNobodyReadsIt() throws {
        var room = try Room()
        let client = ClientID(3)
        room.publish(.b, in: BlockID(7), bytes: ResultBlocks.largeBytesMin)
        let (image, terms, names) = try room.load(.b)
        #expect(room.hits.grant(image, terms, names, at: room.now) == nil)
        #expect(room.hits.entry(for: names.result, at: room.now) != nil)
        let isLent = room.hits.blocks.deliver(
            room.handle(7), ResultBlocks.largeBytesMin, to: client)
        #expect(isLent)
        let whileRead = room.hits.withdraw(.evicted(room.handle(7)))
        #expect(whileRead == nil, "a client reads it")
        #expect(room.hits.entry(for: names.result, at: room.now) == nil)
        let released = room.hits.blocks.release(BlockID(7), by: client)
        #expect(released == room.handle(7))
        room.publish(.b, in: BlockID(8), bytes: ResultBlocks.largeBytesMin)
        let unread = room.hits.withdraw(.evicted(room.handle(8)))
        #expect(unread == room.handle(8))
    }
}

extension HitTicket {
    /// The same without its voucher, so that its validity doesn't depend on that.
    var unvouched: HitTicket {
        var ticket = self
        ticket.image = image.unvouched
        return ticket
    }
}

extension DeliveredImage {
    /// The same without a voucher.
    var unvouched: DeliveredImage {
        var image = self
        image.voucher = nil
        return image
    }
}

extension Hits {
    /// Whether a client that received the ticket's answer would repeat it.
    func isRepeated(_ ticket: HitTicket, at now: Instant) -> Bool {
        guard let voucher = ticket.image.voucher, vouchers.stands(voucher.number) else {
            return false
        }
        return voucher.until.map { now < $0 } ?? true
    }
}

/// Vouchers on their own, and as readers of their file see them.
@Suite struct VouchersTests {
    /// The file as clients read it.
    private struct File {
        var words: [UInt64: UInt64] = [:]
        var floor: UInt64 = 0

        mutating func apply(_ writes: [VoucherWrite]) {
            for write in writes {
                switch write {
                case .word(let index, let number): words[index] = number
                case .floor(let number): floor = number
                }
            }
        }

        func stands(_ number: UInt64, of count: UInt64) -> Bool {
            words[number % count] == number && floor <= number
        }
    }

    private let source = ScopedSource(SourceKey(ImageRequest.image()), LoadTerms())

    @Test func noneAreIssuedWhereThereAreNoWords() {
        var vouchers = Vouchers(words: 0)
        let issued = vouchers.issue(BlockID(1), source, text: "a")
        #expect(issued == nil)
        vouchers.withdrawAll()
        vouchers.close()
        #expect(vouchers.drainWrites().isEmpty && !vouchers.stands(1) && !vouchers.stands(0))
    }

    @Test func eachReasonWithdrawsItsOwn() throws {
        var vouchers = Vouchers(words: 8)
        func issue(_ block: UInt64, _ source: ScopedSource?, _ text: String) throws -> UInt64 {
            let issued = vouchers.issue(BlockID(block), source, text: text)
            return try #require(issued)
        }
        let first = try issue(1, source, "a")
        let second = try issue(1, nil, "b")
        let third = try issue(2, nil, "b")
        #expect(Set([first, second, third]).count == 3 && vouchers.count == 3)
        #expect(vouchers.block(of: second) == BlockID(1))
        vouchers.withdraw(of: source)
        #expect(!vouchers.stands(first) && vouchers.stands(second) && vouchers.stands(third))
        vouchers.withdraw(of: BlockID(1))
        #expect(!vouchers.stands(second) && vouchers.stands(third))
        #expect(vouchers.block(of: second) == nil)
        vouchers.withdraw(ofText: "b")
        #expect(vouchers.count == 0)
        let fourth = try issue(1, source, "a")
        vouchers.withdrawAll()
        #expect(!vouchers.stands(fourth))
        let fifth = try issue(1, source, "a")
        #expect(vouchers.stands(fifth))
        vouchers.close()
        let afterwards = vouchers.issue(BlockID(1), nil, text: "")
        #expect(!vouchers.stands(fifth) && afterwards == nil)
        vouchers.withdrawAll()
        let later = vouchers.issue(BlockID(1), nil, text: "")
        #expect(later == nil, "closed for good")
    }

    @Test func oneMoreThanThereAreWordsWithdrawsTheOldest() throws {
        var vouchers = Vouchers(words: 4)
        var issued: [UInt64] = []
        for block in 0..<6 {
            let number = vouchers.issue(BlockID(UInt64(block)), nil, text: "a")
            issued.append(try #require(number))
        }
        #expect(issued.map { vouchers.stands($0) } == [false, false, true, true, true, true])
        vouchers.withdraw(of: BlockID(0))
        #expect(vouchers.stands(issued[4]), "the word was reassigned")
    }

    @Test func whatFellTakesNothingAlongThatHasItsWordNow() throws {
        var vouchers = Vouchers(words: 1)
        let first = vouchers.issue(BlockID(1), source, text: "a")
        vouchers.withdraw(of: BlockID(1))
        let second = vouchers.issue(BlockID(2), nil, text: "b")
        vouchers.withdraw(of: BlockID(1))
        vouchers.withdraw(of: source)
        vouchers.withdraw(ofText: "a")
        #expect(!vouchers.stands(try #require(first)))
        #expect(vouchers.stands(try #require(second)))
    }

    /// Readers of the words see exactly the valid vouchers, whatever was issued and withdrawn.
    @Test func theFileSaysTheSame() {
        var random = SeededGenerator(seed: 5)
        for words in [1, 3, 16] {
            var (vouchers, file, issued) = (Vouchers(words: words), File(), [UInt64]())
            for _ in 0..<2_000 {
                switch Int.random(in: 0..<20, using: &random) {
                case 0: vouchers.withdrawAll()
                case 1...3: vouchers.withdraw(of: BlockID(.random(in: 0..<6, using: &random)))
                case 4: vouchers.withdraw(of: source)
                case 5: vouchers.withdraw(ofText: "\(Int.random(in: 0..<4, using: &random))")
                default:
                    let number = vouchers.issue(
                        BlockID(.random(in: 0..<6, using: &random)),
                        random.happens(50) ? source : nil,
                        text: "\(Int.random(in: 0..<4, using: &random))")
                    if let number {
                        #expect(number > issued.last ?? 0)
                        issued.append(number)
                    }
                }
                file.apply(vouchers.drainWrites())
                for number in issued.suffix(40) {
                    #expect(file.stands(number, of: UInt64(words)) == vouchers.stands(number))
                }
            }
        }
    }
}
