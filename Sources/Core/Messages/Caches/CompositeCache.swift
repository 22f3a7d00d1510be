/// What is done with a composite cache; each has a policy of its own (SEMANTICS §5.16).
public enum CompositeOperation: String, Hashable, Sendable, CaseIterable {
    /// An entry is looked for and read.
    case query
    /// An entry is kept.
    case store
    /// An entry goes, or some of them do.
    case remove
    /// An entry is looked for.
    case contains
    /// All entries go.
    case clear

    /// What holds where nobody says anything: upstream's.
    public var usual: CompositePolicy {
        switch self {
        case .query, .contains: .serial
        case .store: .highestOnly
        case .remove, .clear: .concurrent
        }
    }
}

/// Which of its caches a composite cache means, and in which order.
public enum CompositePolicy: String, Hashable, Sendable, CaseIterable {
    /// One after the other, the highest first.
    case serial
    /// All at once: what memory has comes before what a disk has.
    case concurrent
    /// That one alone.
    case highestOnly = "highest-only"
    /// That one alone.
    case lowestOnly = "lowest-only"
}

/// A name that stands for several caches.
public struct CompositeCache: Hashable, Sendable {
    /// The names of the caches; the last one is the highest. From 1 to `countMax`.
    public var caches: [String]
    /// What is said of its operations.
    public var policies: [CompositeOperation: CompositePolicy]

    /// Stands for these caches.
    public init(
        of caches: [String] = [], policies: [CompositeOperation: CompositePolicy] = [:]
    ) {
        (self.caches, self.policies) = (caches, policies)
    }

    /// Caches of one composite at most.
    public static let countMax = 8

    /// The policy of an operation.
    public func policy(_ operation: CompositeOperation) -> CompositePolicy {
        policies[operation] ?? operation.usual
    }

    /// The caches that an operation means, the highest first.
    public func caches(for operation: CompositeOperation) -> [String] {
        switch policy(operation) {
        case .serial, .concurrent: caches.reversed()
        case .highestOnly: Array(caches.suffix(1))
        case .lowestOnly: Array(caches.prefix(1))
        }
    }
}
