/// The kinds of process. A worker's kind is that of the pool at whose listener it connects, never a
/// claim.
public enum WorkerKind: UInt8, Hashable, Sendable, CaseIterable {
    /// Decides; holds no pixels.
    case coordinator = 0
    /// Fetches; the only one with a network.
    case download = 1
    /// Memory tier and disk tier.
    case cache = 2
    /// Bytes to pixels.
    case decode = 3
    /// Pixels to bytes.
    case transform = 4

    /// How many kinds there are; no list of them is made to know that.
    public static var count: Int { Int(transform.rawValue) + 1 }

    /// The word on the command line, in paths and in JSON.
    public var name: String {
        switch self {
        case .coordinator: "coordinator"
        case .download: "download"
        case .cache: "cache"
        case .decode: "decode"
        case .transform: "transform"
        }
    }

    /// The kind of that name.
    public init?(name: String) {
        guard let found = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = found
    }

    /// The four that do jobs.
    public static let workers: [WorkerKind] = [.download, .cache, .decode, .transform]
}
