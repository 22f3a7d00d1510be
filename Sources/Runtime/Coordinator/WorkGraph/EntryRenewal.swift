import Model

/// Identifies a body: by the origin's validators, or by an internal mark if the origin sends none.
/// An original and the results made from it are stored with the same mark, so that a result is
/// never attributed to bytes that replaced its original.
struct BodyMark: Hashable, Sendable {
    /// The origin's entity tag, or an internal mark, which isn't a valid entity tag.
    let etag: String?
    let lastModified: String?

    /// The mark of bytes that are never revalidated.
    static let none = BodyMark(etag: nil, lastModified: nil)
}

extension BodyMark {
    /// The mark of a cache entry.
    init(_ metadata: StoredMetadata) {
        self.init(etag: metadata.etag, lastModified: metadata.lastModified)
    }

    /// The mark of an image served from memory.
    init(_ validity: Validity) {
        self.init(etag: validity.etag, lastModified: validity.lastModified)
    }

    /// The mark of a fetched body. Block IDs are unique within one incarnation of a process.
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

    /// The validators for a conditional request; `nil` if the origin sent none.
    var validators: Validators? {
        Validators(
            etag: etag.flatMap { Self.isEntityTag($0) ? $0 : nil }, lastModified: lastModified)
    }

    /// Whether bytes with this mark are the same as those with the other one. Bytes without a mark
    /// are never considered the same.
    func names(_ other: BodyMark) -> Bool { self == other && self != .none }

    /// Compares bytewise, as origins do.
    static func == (left: BodyMark, right: BodyMark) -> Bool {
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

/// Caching information from an origin that confirmed a stored entry as still current.
struct Confirmation: Hashable, Sendable {
    /// The origin's caching information.
    var caching: OriginCaching
    /// Whether the information is complete because it came with the same bytes. A 304 leaves fields
    /// that it doesn't mention unchanged (RFC 9111 §3.2).
    let isWhole: Bool

    /// Returns the caching information that now applies to an entry stored with `kept`.
    func renewed(_ kept: OriginCaching?) -> OriginCaching {
        guard let kept, !isWhole else { return caching }
        return kept.renewed(by: caching)
    }

    /// Combines this confirmation with an earlier one, whose fields are kept if this one has none.
    func after(_ earlier: Confirmation) -> Confirmation {
        guard !isWhole, caching.cacheControl.field == nil else { return self }
        var both = self
        both.caching.cacheControl = earlier.caching.cacheControl
        return both
    }
}

// Caching information in confirmations of stored entries (SEMANTICS §6.7).
extension WorkGraph {
    /// Reports a 304 response: the entries with the marks of the source's subscribers are renewed.
    func notifyConfirmed(_ node: SourceNode.ID, _ answer: ImageError) {
        guard let caching = answer.confirmedCaching else { return }
        let confirmation = Confirmation(caching: caching, isWhole: false)
        let marks = sources[node].consumers.members.compactMap { decodes[$0].name.origin.mark }
        for mark in Set(marks) { emit(confirmation, of: mark, at: node) }
    }

    /// Stores the new caching information with the entries of these texts, as far as they have the
    /// same bytes, so that no revalidation is needed after a restart. Nothing waits for it; if the
    /// cache's queue is full, it is skipped at the cost of a later revalidation. `fromOrigin` means
    /// that the information was just received from the origin, and is also sent to external caches.
    func renew(
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

    func emit(
        _ confirmation: Confirmation, of mark: BodyMark, at node: SourceNode.ID
    ) {
        guard mark != .none else { return }
        for text in sources[node].storing.originals.texts {
            emit(.withdrawn(.confirmed(plainOriginal: text, mark, confirmation)))
        }
    }
}

// Removal of entries that a refresh found outdated and that are not replaced.
extension WorkGraph {
    /// Removes an outdated entry from all tiers except those where a store replaces it, so that it
    /// is never served again. A disk-only store removes the memory entry itself, so that all tiers
    /// agree.
    ///
    /// In a composite cache, member caches that the store doesn't reach lose the entry entirely.
    func removeOutdated(_ text: String, exceptIn tiers: CacheTypes) {
        if layout.composite(ofStored: text) != nil {
            for work in layout.removals(ofOutdated: text, exceptIn: tiers) {
                remove(work, isRepeated: false)
            }
            return
        }
        guard !tiers.contains(.disk) || layout.isExternal(text) else { return }
        let rest = layout.isExternal(text) ? CacheTypes.all : CacheTypes.all.subtracting(tiers)
        let work = EntryWork(action: .remove, key: text, tiers: rest)
        // The removal precedes the stores of this event: removing an entry while it is being stored
        // cancels the store.
        remove(work, isRepeated: false)
    }

    /// A failed removal of an outdated entry is repeated once. If it fails again, the cache knows
    /// the key and doesn't serve it.
    func remove(_ work: EntryWork, isRepeated: Bool) {
        // Stores to external caches in flight under the same texts are older.
        let texts = [work.key] + work.caches.map { CacheKey.moved(work.key, to: $0) }
        endTails { text, _ in texts.contains(text) }
        let purpose = JobPurpose.removal(work, isRepeated: isRepeated)
        _ = submit(.entry(work), for: purpose, reading: nil, .unbounded(.high))
    }

    /// Removes older originals, after the new bytes have proven to be an image, under texts for
    /// which no subscriber has them stored.
    func removeUnreplacedOriginals(of node: SourceNode.ID, under text: String? = nil) {
        for (plain, tiers) in sources[node].storing.originals.wanted where text ?? plain == plain {
            removeOutdated(
                sources[node].text(of: plain),
                exceptIn: sources[node].keeping == .nowhere ? .none : tiers)
        }
    }

    /// Removes the outdated entries that no store of this result replaces. An active serialization
    /// does so itself.
    func removeOutdatedResult(of node: ResultNode.ID) {
        guard results[node].name.origin.isRevalidation, !results[node].provenance.isOutdated else {
            return
        }
        let result = results[node]
        if result.provenance.keeping == .nowhere {
            removeOutdated(result.request.names.result, exceptIn: .none)
        } else if result.transcode == nil, result.transcoded.isEmpty {
            removeOutdated(result.text, exceptIn: result.plainTiers)
        }
    }
}

// Queries in flight while an entry is stored or replaced under their key.
extension WorkGraph {
    /// Handles a store under a key. Queries of it in flight may have been evaluated earlier; their
    /// miss must not cause a second transfer.
    func overtakeQueries(of text: String, _ source: SourceKey) {
        guard !layout.isEmpty else { return overtake(text, source) }
        for related in layout.related(toStored: text) { overtake(related, source) }
    }

    private func overtake(_ text: String, _ source: SourceKey) {
        emit(.overtaken(text))
        for node in lookups.all(under: text) { lookups[node].isOvertaken = true }
        for node in sources.all(under: source) where sources[node].queriedText == text {
            sources[node].freshness.isOvertaken = true
        }
    }

    /// Handles the replacement of a result: queries in flight may return the old one.
    func outdateQueries(of text: String) {
        guard !layout.isEmpty else { return outdateLookups(of: text) }
        for related in layout.related(toStored: text) { outdateLookups(of: related) }
    }

    private func outdateLookups(of text: String) {
        for node in lookups.all(under: text) { lookups[node].isOutdated = true }
    }
}
