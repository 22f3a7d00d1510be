import Model
import Testing

@testable import Coordinator

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
        let caching = OriginCaching(
            CacheControl("max-age=1"), ResponseAge(bornMilliseconds: 60))
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
            caching: OriginCaching(
                CacheControl("no-cache"), ResponseAge(bornMilliseconds: 1_010)),
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
        ticket.image.voucher = nil
        return ticket
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
