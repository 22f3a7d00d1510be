import Dispatching
import Messages

/// What the outcome of a job is for.
enum JobPurpose: Sendable {
    case lookup(LookupNode.ID)
    /// What external caches know of the freshness of an image.
    case validity(ValidityNode.ID)
    case source(SourceNode.ID)
    case original(SourceNode.ID)
    /// What a serializer makes, and its store.
    case transcode(TranscodeNode.ID)
    case decode(DecodeNode.ID)
    case transform(ResultNode.ID)
    case delivery(ResultNode.ID)
    /// An image of what has arrived so far.
    case partial(PartialNode.ID)
    /// An operator asks about entries of the cache, or removes some.
    indirect case inquiry(EntryWork)
    /// What a refresh found outdated, and no store replaces; for the first or the second time.
    indirect case removal(EntryWork, isRepeated: Bool)
    /// The text of an entry that its origin has confirmed, which the cache is told.
    case renewal(String)
    /// Whether a refreshed body is the stored one.
    case comparing(SourceNode.ID)

    /// Within one class and kind of worker, what ends a request comes before what begins one, and
    /// what no reply waits for comes last.
    func rank(_ kind: WorkerKind) -> UInt8 {
        switch self {
        case .delivery, .comparing, .removal: 0
        // Whoever begins anew because of a removal asks the cache behind it.
        case .inquiry(let work) where work.action.removes: 0
        case .original, .renewal: 1
        case .transcode: kind == .cache ? 1 : 3
        case .partial: 3
        case .lookup, .validity, .source, .decode, .transform, .inquiry: 2
        }
    }

    /// Whether it waits for space outside, where there is none: what no reply waits for does not.
    var waitsForSpace: Bool {
        switch self {
        case .original, .comparing, .transcode, .removal, .renewal, .partial: false
        case .lookup, .validity, .source, .decode, .transform, .delivery, .inquiry: true
        }
    }
}
