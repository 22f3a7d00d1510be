import Dispatching
import ImageModel
import Messages
import Tables

/// Another encoding of a result or of an original, made for the tiers that keep it
/// (SEMANTICS §5.8).
///
///     decoding ──pixels──► encoding ──bytes──► storing ──► gone
///
/// The encoding of a result begins with `encoding`, out of the pixels that the result was made of.
struct TranscodeNode: Tabled {
    typealias ID = SlotID<TranscodeNode>

    /// Where it goes.
    struct Entry: Sendable {
        /// The text of the key, and the tiers that are to have it under that.
        let text: String
        let tiers: CacheTypes
        /// What is kept beside the bytes, but for what they are.
        let metadata: StoredMetadata
    }

    /// What it is made of.
    struct Material: Sendable {
        /// The source of the bytes, their plain text, and whether a refresh looked for them.
        let key: SourceKey
        let plainText: String
        let isRevalidation: Bool
        /// When the transfer of these bytes began, where there was one.
        let began: TransferSerial?
        let source: SourceNode.ID?
    }

    let entry: Entry
    let material: Material
    /// What is done to the pixels, and how they are encoded.
    let steps: [TransformStep]
    let output: OutputOptions
    /// The limits that the configuration sets.
    let limits: LimitSettings
    /// Whether what tiers have under that text is known to be outdated.
    var replaces: Bool
    /// The result whose waiters may ask what became of it.
    let result: ResultNode.ID?
    /// Whether the source stays until it is stored, since these are its bytes.
    let keepsSource: Bool
    let urgency: Urgency
    let logContext: LogContext
    /// What its job reads; the job holds it.
    var input: BlockHandle
    /// What is laid over it, until it was; its job holds that, too.
    var overlays: [DecodeNode.Pixels] = []
    var job = JobID(0)
    /// The watchers that wait for its store.
    var watchers = WatcherList()

    /// Whether its job reads what that worker made.
    func reads(from worker: WorkerID) -> Bool {
        input.worker == worker || overlays.contains { $0.block.worker == worker }
    }
}
