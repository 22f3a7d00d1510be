import Dispatching
package import ImageModel
package import Messages
import Tables

/// What tells a body from others: what its origin says of it, or a mark of ours where the origin
/// says nothing. An original and the results that are made of it are stored with the same mark, so
/// that a result is never taken for one of bytes that replaced its original.
package struct BodyMark: Hashable, Sendable {
    /// The origin's entity tag, or our mark, which is none.
    let etag: String?
    let lastModified: String?

    /// Of bytes that nobody will ask about again.
    package static let none = BodyMark(etag: nil, lastModified: nil)

    /// Of what the cache has.
    package init(_ metadata: StoredMetadata) {
        self.init(etag: metadata.etag, lastModified: metadata.lastModified)
    }

    /// Of an image that memory answers.
    package init(_ validity: Validity) {
        self.init(etag: validity.etag, lastModified: validity.lastModified)
    }

    /// Of what a worker brought; no two blocks of one life of a process have the same id.
    init(_ body: FetchedBody) {
        guard body.etag == nil, body.lastModified == nil,
            let incarnation = body.reference.producer?.incarnation
        else {
            self.init(etag: body.etag, lastModified: body.lastModified)
            return
        }
        self.init(
            etag: "imagebus:\(incarnation.value.hex)-\(body.reference.block.value)",
            lastModified: nil)
    }

    private init(etag: String?, lastModified: String?) {
        self.etag = etag
        self.lastModified = lastModified
    }

    /// What the origin is asked with; `nil` where it gave nothing to ask with.
    package var validators: Validators? {
        Validators(
            etag: etag.flatMap { Self.isEntityTag($0) ? $0 : nil }, lastModified: lastModified)
    }

    /// Whether bytes with this mark are those with the other one. Bytes without a mark equal no
    /// others.
    func names(_ other: BodyMark) -> Bool { self == other && self != .none }

    /// By bytes, as origins compare.
    package static func == (left: BodyMark, right: BodyMark) -> Bool {
        areSame(left.etag, right.etag) && areSame(left.lastModified, right.lastModified)
    }

    private static func areSame(_ left: String?, _ right: String?) -> Bool {
        guard let left, let right else { return left == nil && right == nil }
        return left.utf8.elementsEqual(right.utf8)
    }

    /// `"…"` or `W/"…"` (RFC 9110 §8.8.3).
    private static func isEntityTag(_ text: String) -> Bool {
        let quote = UInt8(ascii: "\"")
        let quoted = text.utf8.starts(with: "W/".utf8) ? text.utf8.dropFirst(2) : text.utf8[...]
        return quoted.count >= 2 && quoted.first == quote && quoted.last == quote
            && quoted.dropFirst().dropLast().allSatisfy { $0 > 0x20 && $0 != quote && $0 != 0x7F }
    }
}

/// What an origin said as it confirmed that what is kept is still the same.
package struct Confirmation: Hashable, Sendable {
    /// What it says of caching.
    var caching: OriginCaching
    /// Whether it sent all it had to say, with the same bytes. A 304 leaves what it does not say
    /// (RFC 9111 §3.2).
    let isWhole: Bool

    init(caching: OriginCaching, isWhole: Bool) {
        (self.caching, self.isWhole) = (caching, isWhole)
    }

    /// What an external cache knows: all that holds by now.
    package init(told caching: OriginCaching) { self.init(caching: caching, isWhole: true) }

    /// What holds from now on of what was kept with these words.
    package func renewed(_ kept: OriginCaching?) -> OriginCaching {
        guard let kept, !isWhole else { return caching }
        return kept.renewed(by: caching)
    }

    /// The same after an earlier one, whose words count where this one has none.
    package func after(_ earlier: Confirmation) -> Confirmation {
        guard !isWhole, caching.cacheControl.field == nil else { return self }
        var both = self
        both.caching.cacheControl = earlier.caching.cacheControl
        return both
    }
}

// What origins say of caching as they confirm what is kept (SEMANTICS §6.7).
extension Deriver {
    /// The origin has nothing new. What is kept with the marks of the source's waiters lives anew.
    mutating func tellConfirmed(_ node: SourceNode.ID, _ answer: ImageError) {
        guard let caching = answer.confirmedCaching else { return }
        let said = Confirmation(caching: caching, isWhole: false)
        let marks = sources[node].consumers.members.compactMap { decodes[$0].name.origin.mark }
        for mark in Set(marks) { tell(said, of: mark, at: node) }
    }

    /// The origin sent the bytes with that mark once more.
    mutating func tellSame(_ node: SourceNode.ID, as mark: BodyMark) {
        guard let caching = sources[node].kept?.fetched?.caching else { return }
        tell(Confirmation(caching: caching, isWhole: true), of: mark, at: node)
    }

    /// Has the cache keep what the origin says now with the entries of these texts, as far as they
    /// are of the same bytes, so that nobody asks again after a restart. Nobody waits for it; where
    /// the cache has no room for another job, a later question costs as much. `fromOrigin`: whether
    /// the origin has just said so; then external caches are told as well.
    package mutating func renew(
        _ texts: Set<String>, _ mark: BodyMark, _ caching: OriginCaching, fromOrigin: Bool
    ) {
        guard mark != .none else { return }
        for text in texts.subtracting(renewing).sorted() where dispatcher.hasRoom(.cache) {
            var work = EntryWork(action: .renew, key: text, tiers: .all)
            work.renewal = Validity(
                expiry: caching.leavesLifetimeOpen ? nil : caching.expiry(.shared),
                caching: caching, etag: mark.etag, lastModified: mark.lastModified)
            work.staysOwn = !fromOrigin
            guard fromOrigin || layout.hasOwn(text) else { continue }
            renewing.insert(text)
            _ = submit(.entry(work), for: .renewal(text), reading: nil, .unbounded(.low))
        }
    }

    private mutating func tell(
        _ said: Confirmation, of mark: BodyMark, at node: SourceNode.ID
    ) {
        guard mark != .none else { return }
        for text in sources[node].storing.originals.texts { tell(.confirmed(text, mark, said)) }
    }
}

// Removal of entries that a refresh found outdated and that nothing replaces.
extension Deriver {
    /// Removes an outdated entry from all tiers but these, where a store replaces it: nobody is to
    /// be served it later. A store for the disk alone removes the entry in memory by itself, so
    /// that all tiers agree about the key.
    ///
    /// Of several caches under one name, those that the store does not reach lose it altogether.
    mutating func removeOutdated(_ text: String, exceptIn tiers: CacheTypes) {
        if layout.composite(ofStored: text) != nil {
            for work in layout.removals(ofOutdated: text, exceptIn: tiers) {
                remove(work, isRepeated: false)
            }
            return
        }
        guard !tiers.contains(.disk) || layout.isForeign(text) else { return }
        let rest = layout.isForeign(text) ? CacheTypes.all : CacheTypes.all.subtracting(tiers)
        let work = EntryWork(action: .remove, key: text, tiers: rest)
        // The removal comes before the stores of this event: an entry that is removed while it is
        // stored is not kept.
        remove(work, isRepeated: false)
    }

    /// A cache that could not remove an outdated entry is asked once more. Where it fails again, it
    /// knows the key, and answers nobody from it.
    mutating func removeAgain(_ work: EntryWork) { remove(work, isRepeated: true) }

    private mutating func remove(_ work: EntryWork, isRepeated: Bool) {
        // What is on its way to caches of others under the same texts is older.
        let texts = [work.key] + work.caches.map { CacheKey.moved(work.key, to: $0) }
        endTails { text, _ in texts.contains(text) }
        let purpose = JobPurpose.removal(work, isRepeated: isRepeated)
        _ = submit(.entry(work), for: purpose, reading: nil, .unbounded(.high))
    }

    /// The new bytes are an image. Under texts for which nobody has them stored, the older original
    /// is removed.
    mutating func removeUnreplacedOriginals(of node: SourceNode.ID, under text: String? = nil) {
        for (plain, tiers) in sources[node].storing.originals.wanted where text ?? plain == plain {
            removeOutdated(
                sources[node].text(of: plain),
                exceptIn: sources[node].keeping == .nowhere ? .none : tiers)
        }
    }

    /// Removes the outdated entries that no store of this result replaces. A serializer that is at
    /// work does so itself.
    mutating func removeOutdatedResult(of node: ResultNode.ID) {
        let result = results[node]
        guard result.name.origin.isRevalidation, !result.provenance.isOutdated else { return }
        if result.provenance.keeping == .nowhere {
            removeOutdated(result.order.names.result, exceptIn: .none)
        } else if result.transcode == nil, result.transcoded.isEmpty {
            removeOutdated(result.text, exceptIn: result.plainTiers)
        }
    }
}

// Queries that are under way while something is stored or replaced under their key.
extension Deriver {
    /// A key was stored. Queries of it that are under way may have come too early: their miss must
    /// not lead to a second transfer.
    mutating func overtakeQueries(of text: String, _ source: SourceKey) {
        guard !layout.isEmpty else { return overtake(text, source) }
        for related in layout.related(toStored: text) { overtake(related, source) }
    }

    private mutating func overtake(_ text: String, _ source: SourceKey) {
        tell(.overtaken(text))
        for node in lookups.all(under: text) { lookups[node].overtake() }
        for node in sources.all(under: source) where sources[node].queriedText == text {
            sources[node].freshness.isOvertaken = true
        }
    }

    /// A result was replaced: queries of it that are under way may bring the old one.
    mutating func outdateQueries(of text: String) {
        guard !layout.isEmpty else { return outdateLookups(of: text) }
        for related in layout.related(toStored: text) { outdateLookups(of: related) }
    }

    private mutating func outdateLookups(of text: String) {
        for node in lookups.all(under: text) { lookups[node].outdate() }
    }
}
