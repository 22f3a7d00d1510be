import Derivation
import ImageModel
import Messages

/// What origins said as they confirmed what the cache keeps. It is newer than what is kept there,
/// and holds for all results of one original.
///
/// Soft and bounded: what is forgotten costs another question to the origin.
struct Confirmations: Sendable {
    private struct Kept: Hashable {
        /// The plain text of the original.
        let text: String
        let mark: BodyMark
    }

    private let entriesMax: Int
    private var entries: [Kept: Confirmation] = [:]

    init(entriesMax: Int) { self.entriesMax = entriesMax }

    var count: Int { entries.count }

    /// The newest one counts. Forgets all when full: what is in use comes back at once.
    mutating func learn(_ text: String, _ mark: BodyMark, _ said: Confirmation) {
        let kept = Kept(text: text, mark: mark)
        let earlier = entries[kept]
        if earlier == nil, entries.count >= entriesMax {
            entries.removeAll(keepingCapacity: true)
        }
        entries[kept] = earlier.map { said.after($0) } ?? said
    }

    /// What the origin says of caching an image of such an original that is kept with these words,
    /// at a moment in milliseconds since 1970.
    func caching(
        _ kept: OriginCaching?, of text: String, _ mark: BodyMark, at now: Int64
    ) -> OriginCaching? {
        guard !entries.isEmpty, let said = entries[Kept(text: text, mark: mark)] else {
            return kept
        }
        let renewed = said.renewed(kept)
        // What was stored since is newer, unless only the clock of that time was ahead.
        if let kept, kept.age.isKnown(at: now),
            kept.age.bornMilliseconds > renewed.age.bornMilliseconds
        {
            return kept
        }
        return renewed
    }
}
