/// The stage that a job belongs to.
public enum JobStage: UInt8, Hashable, Sendable, CaseIterable {
    /// Copy bytes into the cache, for storing, for delivery, or for both.
    case store = 0
    /// Ask the cache for a key.
    case query = 1
    /// Fetch a URL.
    case fetch = 2
    /// Bytes to pixels.
    case decode = 3
    /// Pixels, or one colour, to encoded bytes.
    case transform = 4

    /// Who does it.
    public var kind: WorkerKind {
        switch self {
        case .store, .query: .cache
        case .fetch: .download
        case .decode: .decode
        case .transform: .transform
        }
    }

    /// The word in status and logs.
    public var name: String {
        switch self {
        case .store: "store"
        case .query: "query"
        case .fetch: "fetch"
        case .decode: "decode"
        case .transform: "transform"
        }
    }
}

extension JobWork {
    /// The stage that it belongs to.
    public var stage: JobStage {
        switch self {
        case .store: .store
        case .query, .entry: .query
        case .fetch: .fetch
        case .decode: .decode
        case .transform, .paint: .transform
        }
    }
}
