import Model
import Testing

@testable import Coordinator

/// Which hits of external caches are older than a change of their entry.
@Suite struct EntryChangeLogTests {
    private let source = BlockReference(
        arena: .stage, segment: 0, offset: 0, length: 1, block: BlockID(1))
    private let metadata = StoredMetadata(
        info: ImageInfo(format: .png, size: PixelSize(width: 1, height: 1)))
    private var log = EntryChangeLog()
    private var job: UInt64 = 0

    private func promotion(_ key: String, since position: UInt64) -> Promotion {
        Promotion(
            text: "own\u{1F}\(key)", tiers: .memory, source: "shared\u{1F}\(key)", pool: "p",
            metadata: metadata, since: position)
    }

    private func store(_ text: String) -> JobWork {
        .store(
            StoreWork(
                key: text, source: source, tiers: .all, delivers: false, waitsForDisk: false,
                metadata: metadata))
    }

    private func remove(_ text: String) -> JobWork {
        .entry(EntryWork(action: .remove, key: text, tiers: .all))
    }

    private mutating func begin(_ work: JobWork) -> JobID {
        job += 1
        log.began(JobID(job), work)
        return JobID(job)
    }

    private mutating func change(_ work: JobWork) { log.ended(begin(work)) }

    @Test mutating func aStoreCountsWhileItIsUnderWayAndForWhatBeganBefore() {
        let before = log.position
        // In any cache: it may replace the entry of another one.
        for cache in ["own", "other", ""] {
            let start = log.position
            #expect(log.permits(promotion("a", since: start)))
            let job = begin(store(cache.isEmpty ? "a" : "\(cache)\u{1F}a"))
            #expect(!log.permits(promotion("a", since: start)))
            #expect(log.permits(promotion("b", since: before)))
            log.ended(job)
            #expect(!log.permits(promotion("a", since: start)))
            #expect(log.permits(promotion("a", since: log.position)))
        }
        #expect(log.isQuiet)
    }

    @Test mutating func twoStoresOfAKeyAreBothWaitedFor() {
        let jobs = (0..<2).map { _ in begin(store("a")) }
        log.ended(jobs[0])
        log.ended(jobs[0])
        #expect(!log.permits(promotion("a", since: log.position)))
        log.ended(jobs[1])
        #expect(log.permits(promotion("a", since: log.position)) && log.isQuiet)
    }

    @Test mutating func aRemovalCountsInTheCacheOfEither() {
        for (text, isMeant) in [
            ("own\u{1F}a", true), ("shared\u{1F}a", true), ("other\u{1F}a", false),
            ("own\u{1F}b", false),
        ] {
            let start = log.position
            let job = begin(remove(text))
            #expect(log.permits(promotion("a", since: start)) != isMeant)
            log.ended(job)
            #expect(log.permits(promotion("a", since: start)) != isMeant)
            #expect(log.permits(promotion("a", since: log.position)))
        }
        #expect(log.isQuiet)
    }

    @Test mutating func othersChangeNothing() {
        for action in [EntryAction.contains, .list, .count, .trim, .renew] {
            change(.entry(EntryWork(action: action, key: "own\u{1F}a", tiers: .all)))
        }
        change(.query(QueryWork(key: "a", tiers: .all, destination: .results, promotes: true)))
        log.ended(JobID(999))
        #expect(log.position == 0 && log.permits(promotion("a", since: 0)))
    }

    /// A forgotten change may have had any key.
    @Test mutating func whatBeganBeforeForgottenChangesIsNotPermitted() {
        for number in 0..<EntryChangeLog.storesMax { change(store("s\(number)")) }
        #expect(log.permits(promotion("a", since: 0)))
        change(store("s"))
        #expect(!log.permits(promotion("a", since: 0)))
        #expect(log.permits(promotion("a", since: 1)), "the first one alone is forgotten")
        #expect(!log.permits(promotion("s1", since: 1)))
        let start = log.position
        for number in 0...EntryChangeLog.removalsMax { change(remove("r\(number)")) }
        #expect(!log.permits(promotion("a", since: start)))
        #expect(log.permits(promotion("a", since: start + 1)))
    }

    @Test mutating func aKeyThatIsStoredAgainIsNotForgottenWithItsFirstStore() {
        change(store("a"))
        let start = log.position
        change(store("a"))
        for number in 0..<EntryChangeLog.storesMax - 1 { change(store("s\(number)")) }
        #expect(log.permits(promotion("b", since: start)))
        #expect(!log.permits(promotion("a", since: start)))
    }

    /// Stores and removals are forgotten separately, and not in the order in which they ended: the
    /// latest forgotten one counts.
    @Test mutating func aStoreThatIsForgottenLaterTakesNothingBack() {
        change(store("first"))
        for number in 0...EntryChangeLog.removalsMax { change(remove("r\(number)")) }
        #expect(!log.permits(promotion("a", since: 1)), "a removal after that is forgotten")
        for number in 0..<EntryChangeLog.storesMax { change(store("s\(number)")) }
        #expect(!log.permits(promotion("a", since: 1)))
        #expect(log.permits(promotion("a", since: 2)))
    }

    @Test mutating func aRemovalThatIsForgottenLaterTakesNothingBack() {
        change(remove("first"))
        for number in 0...EntryChangeLog.storesMax { change(store("s\(number)")) }
        #expect(!log.permits(promotion("a", since: 1)), "a store after that is forgotten")
        for number in 0..<EntryChangeLog.removalsMax { change(remove("r\(number)")) }
        #expect(!log.permits(promotion("a", since: 1)))
        #expect(log.permits(promotion("a", since: 2)))
    }

    /// A store voids the promotion in any cache, a removal in the caches of either key; nothing
    /// else does.
    @Test func aPromotionIsVoidedByStoresAndRemovalsOfItsEntry() {
        let hit = promotion("a", since: 0)
        for text in ["a", "own\u{1F}a", "shared\u{1F}a", "other\u{1F}a"] {
            #expect(hit.isVoided(by: store(text)), "\(text)")
            let isMeant = text.hasPrefix("own") || text.hasPrefix("shared")
            #expect(hit.isVoided(by: remove(text)) == isMeant, "\(text)")
        }
        #expect(!hit.isVoided(by: store("own\u{1F}b")) && !hit.isVoided(by: remove("own\u{1F}b")))
        for action in [EntryAction.contains, .list, .count, .trim, .renew] {
            let work = EntryWork(action: action, key: "own\u{1F}a", tiers: .all)
            #expect(!hit.isVoided(by: JobWork.entry(work)), "\(action)")
        }
        let query = QueryWork(key: "own\u{1F}a", tiers: .all, destination: .results, promotes: true)
        #expect(!hit.isVoided(by: JobWork.query(query)))
    }

    /// Changes in flight when the cache layout changes still count.
    @Test mutating func aNewArrangementForgetsNothingThatIsUnderWay() {
        let storing = begin(store("a"))
        let removing = begin(remove("own\u{1F}b"))
        log.restart()
        #expect(!log.permits(promotion("a", since: log.position)))
        #expect(!log.permits(promotion("b", since: log.position)))
        #expect(log.permits(promotion("c", since: log.position)))
        let start = log.position
        log.ended(storing)
        log.ended(removing)
        #expect(!log.permits(promotion("a", since: start)))
        #expect(!log.permits(promotion("b", since: start)))
        #expect(log.permits(promotion("a", since: log.position)))
        #expect(log.permits(promotion("b", since: log.position)) && log.isQuiet)
    }

    @Test mutating func aNewArrangementForgetsWhatBegan() {
        let start = log.position
        log.restart()
        #expect(!log.permits(promotion("a", since: start)))
        #expect(log.permits(promotion("a", since: log.position)))
    }
}
