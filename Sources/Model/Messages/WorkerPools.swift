/// Identifies a pool of a stack by its index.
public struct PoolID: Hashable, Comparable, Sendable {
    /// The index among all pools.
    public let index: Int

    /// The built-in pool of a kind.
    public init(_ kind: WorkerKind) { index = Int(kind.rawValue) }

    fileprivate init(_ index: Int) { self.index = index }

    /// Compares indexes.
    public static func < (left: PoolID, right: PoolID) -> Bool { left.index < right.index }
}

/// All pools of a stack: the built-in ones, including the coordinator's, by the raw value of their
/// kind, followed by the others in configuration order.
public struct WorkerPools: Hashable, Sendable {
    /// The maximum number of further pools; each has a listener and a queue.
    public static let furtherMax = 16

    /// All pools by index.
    public let all: [WorkerPool]
    /// The worker pools by index.
    public let workers: [PoolID]
    /// By raw value of the kind: the pools in order of preference, further pools before the
    /// built-in one, and the vector pool first.
    private let byKind: [[PoolID]]
    /// By raw value of the kind: whether there is only one pool, which is granted everything.
    private let areOpen: [Bool]

    /// Creates the built-in and the configured pools. A configured pool with the name of a kind
    /// replaces the built-in pool with a different grant and other limits.
    public init(_ configured: [WorkerPool] = []) {
        let builtIn = WorkerKind.allCases.map { kind in
            configured.first { $0.isBuiltIn && $0.kind == kind } ?? WorkerPool(kind)
        }
        let all = builtIn + configured.filter { !$0.isBuiltIn }.prefix(Self.furtherMax)
        self.all = all
        workers = all.indices.map(PoolID.init).filter { all[$0.index].kind != .coordinator }
        byKind = WorkerKind.allCases.map { kind in
            let further = all.indices.dropFirst(builtIn.count).filter { all[$0].kind == kind }
            // Other pools of the built-in program may be granted every format but don't render
            // vector drawings.
            let drawing = further.filter { all[$0].name == .vector }
            let others = further.filter { all[$0].name != .vector }
            return (drawing + others).map(PoolID.init) + [PoolID(kind)]
        }
        areOpen = byKind.map { $0.count == 1 && all[$0[0].index].grant == .all }
    }

    /// The pool with that ID, which must be one of these.
    public subscript(id: PoolID) -> WorkerPool { all[id.index] }

    /// Returns the pools of a kind; a job is assigned to the first one that is granted it.
    public func pools(of kind: WorkerKind) -> [PoolID] { byKind[Int(kind.rawValue)] }

    /// Returns whether all pools of the kind may perform all of its work, so that grants need no
    /// check.
    public func isOpen(_ kind: WorkerKind) -> Bool { areOpen[Int(kind.rawValue)] }

    /// Returns the kind of a pool. Called for each job: unlike the pool itself, it doesn't copy the
    /// grant.
    public func kind(of id: PoolID) -> WorkerKind { all[id.index].kind }

    /// Returns whether the pool is an external cache.
    public func isExternalCache(_ id: PoolID) -> Bool {
        kind(of: id) == .cache && id != PoolID(.cache)
    }

    /// The configured further pools, in order.
    public var further: [WorkerPool] { all.filter { !$0.isBuiltIn } }

    /// Returns the ID of the pool with that name; `nil` if there is none.
    public func id(of name: PoolName) -> PoolID? {
        all.firstIndex { $0.name == name }.map(PoolID.init)
    }
}

// Grants of external pools for images.
extension WorkerPools {
    /// Returns whether an external pool is granted that step.
    public func areGranted(step name: String) -> Bool {
        externalTransformers { $0.steps?.contains(name) == true }
    }

    /// Returns whether an external pool is granted that output format. PAM, which is used between
    /// steps, doesn't count.
    public func areGranted(output format: ImageFormat) -> Bool {
        format != .pam && externalTransformers { $0.formatsOut?.contains(format.name) == true }
    }

    /// Returns whether an external pool is granted to decode that format; `nil` for an unrecognized
    /// one.
    package func isDecodedElsewhere(_ format: ImageFormat?) -> Bool {
        pools(of: .decode).contains {
            self[$0].trust == .external && self[$0].grant.decodes(format)
        }
    }

    /// Returns whether an external pool encodes this output. A format that built-in workers also
    /// encode is handled externally only if the request names it with no setting other than the
    /// quality.
    package func externalEncodes(_ output: OutputOptions) -> Bool {
        guard let format = output.format, areGranted(output: format) else { return false }
        return !format.isEncodable
            || output == OutputOptions(format: format, quality: output.quality)
    }

    private func externalTransformers(have isMet: (WorkerCapabilities) -> Bool) -> Bool {
        pools(of: .transform).contains { self[$0].isExternalTransformer && isMet(self[$0].grant) }
    }
}

/// A pool of interchangeable workers of one kind: one program, one user, one listener, one grant.
///
/// Every stack has a built-in pool per kind. Others are configured: a second pool of decoders
/// restricted to one format, or a pool of plug-ins.
public struct WorkerPool: Hashable, Sendable {
    /// The origin of the workers' program.
    public enum Trust: UInt8, Hashable, Sendable, CaseIterable {
        /// The program of this release, started by `serve`.
        case own = 0
        /// A plug-in, started externally unless the pool has a command.
        case external = 1

        /// The name in the configuration and in tables.
        public var name: String { self == .own ? "own" : "external" }

        /// Former names in the configuration, which are accepted too, with those that replaced
        /// them.
        public static let formerNames = ["foreign": "external"]

        /// The name in JSON, where names don't change.
        public var nameInJSON: String { self == .own ? "own" : "foreign" }
    }

    /// The name.
    public let name: PoolName
    /// The kind of its workers.
    public let kind: WorkerKind
    /// The origin of their program.
    public var trust = Trust.own
    /// The granted capabilities, independent of what a worker claims.
    public var grant = WorkerCapabilities.all
    /// The number of processes that `serve` starts.
    public var workers = 1
    /// The program and arguments of plug-ins that `serve` starts; `nil` if they are started
    /// externally, or for built-in programs.
    public var command: [String]?
    /// The maximum number of concurrent jobs per worker; `nil` for the default of its kind.
    public var credit: UInt32?
    /// The bytes of unreleased output above which a worker starts no new job; `nil` for the default
    /// of its kind.
    public var outputBytesMax: UInt64?

    /// Creates a pool of the built-in program with all capabilities of its kind.
    public init(name: PoolName, kind: WorkerKind) {
        self.name = name
        self.kind = kind
    }

    /// Creates the built-in pool of a kind.
    public init(_ kind: WorkerKind) { self.init(name: PoolName(kind), kind: kind) }

    /// Whether this is the built-in pool of its kind.
    public var isBuiltIn: Bool { name == PoolName(kind) }

    /// Whether the pool can't receive any job because a list that every job needs is empty.
    public var getsNoJob: Bool {
        switch kind {
        case .download: grant.schemes?.isEmpty == true
        case .decode: grant.formatsIn?.isEmpty == true
        case .transform: grant.formatsOut?.isEmpty == true
        case .cache, .coordinator: false
        }
    }

    /// Whether its workers perform, per job, one custom step from pixels to pixels, or encode
    /// pixels unchanged. Other transformers perform built-in steps and encode.
    public var isExternalTransformer: Bool { kind == .transform && trust == .external }

    /// The maximum number of concurrent jobs per worker.
    public var creditMax: UInt32 { credit ?? kind.creditMax }

    /// Whether a configured loader refers to the pool: it then receives only jobs of that loader,
    /// and not others with a granted scheme.
    public var isLoader = false

    /// The maximum number of words of a command, including the program.
    public static let commandWordsMax = 64
    /// The maximum number of bytes of each word.
    public static let commandWordBytesMax = 1_024

    /// The kinds for which further pools of the built-in program are possible. The cache is
    /// excluded because with two of them a key would have two values.
    public static let kinds: [WorkerKind] = [.download, .decode, .transform]
    /// The kinds of external pools. An external cache has its own name (SEMANTICS §5.26).
    public static let externalKinds: [WorkerKind] = kinds + [.cache]
}

extension PoolName {
    /// The pool of vector decoders: its workers decode only vector drawings and run in a stricter
    /// sandbox than those of other pools.
    public static let vector: PoolName = {
        guard let name = PoolName("vector") else {
            preconditionFailure("the pool name must be valid")
        }
        return name
    }()

    /// Whether this is the vector pool.
    public var draws: Bool { self == .vector }

    /// The formats that the built-in decoders of this pool support.
    package var family: FormatFamily { draws ? .vector : .raster }
}

extension WorkerPool {
    /// Returns the vector pool with this number of workers.
    public static func vector(workers: Int) -> WorkerPool {
        var pool = WorkerPool(name: .vector, kind: .decode)
        pool.grant.formatsIn = Set(ImageFormat.decodable(.vector).map(\.name))
        pool.workers = workers
        return pool
    }
}

extension [WorkerPool] {
    /// Returns these pools with the vector pool of this number of workers added; unchanged for 0.
    /// If the configuration contains the pool, only its number of workers is changed.
    public func drawing(workers: Int) -> [WorkerPool] {
        guard workers > 0 else { return self }
        guard let index = firstIndex(where: { $0.name == .vector }) else {
            return self + [.vector(workers: workers)]
        }
        var pools = self
        pools[index].workers = workers
        return pools
    }
}

/// The name of a worker pool, from which its listener `back/<pool>` and its segments `arena/<pool>`
/// are derived.
///
/// A lowercase letter, followed by lowercase letters, digits and `-`, so that it is a safe
/// directory name. Its up to 16 bytes are stored inline because every reference to shared memory
/// contains one.
public struct PoolName: Hashable, Sendable, CustomStringConvertible {
    /// The maximum number of bytes of a name.
    public static let bytesMax = 16

    private let first: UInt64
    private let second: UInt64

    /// Validates a name; returns `nil` if it is invalid.
    public init?(_ text: String) {
        guard (1...Self.bytesMax).contains(text.utf8.count),
            let head = text.utf8.first, head.isLowercaseLetter,
            text.utf8.allSatisfy({ $0.isLowercaseLetter || $0.isDigit || $0 == 0x2D })
        else { return nil }
        self.init(permitted: text)
    }

    /// The built-in pool of a kind.
    public init(_ kind: WorkerKind) { self.init(permitted: kind.name) }

    private init(permitted text: String) {
        var (first, second) = (UInt64(0), UInt64(0))
        for (index, byte) in text.utf8.enumerated() {
            let bits = UInt64(byte) << UInt64(index % 8 * 8)
            if index < 8 { first |= bits } else { second |= bits }
        }
        (self.first, self.second) = (first, second)
    }

    /// The name as text.
    public var text: String {
        let bytes = (0..<Self.bytesMax).map { index in
            UInt8(truncatingIfNeeded: (index < 8 ? first : second) >> UInt64(index % 8 * 8))
        }
        return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }

    /// The name as text.
    public var description: String { text }
}

/// The capabilities or the grant of workers; a list that is `nil` includes everything known.
public struct WorkerCapabilities: Hashable, Sendable {
    /// Schemes of URLs that are fetched.
    public var schemes: Set<String>?
    /// Names of formats that are decoded.
    public var formatsIn: Set<String>?
    /// Names of formats that are encoded.
    public var formatsOut: Set<String>?
    /// Names of the transformation steps, including custom ones.
    public var steps: Set<String>?

    /// The maximum number of entries per list.
    public static let entriesMax = 64
    /// The maximum number of bytes per entry.
    public static let entryBytesMax = 64

    /// Everything.
    public static let all = WorkerCapabilities()

    /// Creates capabilities from lists.
    public init(
        schemes: Set<String>? = nil, formatsIn: Set<String>? = nil,
        formatsOut: Set<String>? = nil, steps: Set<String>? = nil
    ) {
        self.schemes = schemes
        self.formatsIn = formatsIn
        self.formatsOut = formatsOut
        self.steps = steps
    }

    /// Returns whether a text is a valid entry: a letter or digit, followed by letters, digits,
    /// `.`, `_`, `+` and `-`.
    public static func isEntry(_ text: String) -> Bool {
        guard (1...entryBytesMax).contains(text.utf8.count), let head = text.utf8.first,
            head.isLetterOrDigit
        else { return false }
        return text.utf8.allSatisfy { $0.isLetterOrDigit || "._+-".utf8.contains($0) }
    }

    /// Returns the first entry of the lists of that kind that `other` lacks, or the name of a list
    /// that is unrestricted here and restricted there; `nil` if `other` covers all of it.
    public func firstMissing(in other: WorkerCapabilities, for kind: WorkerKind) -> String? {
        let lists: [(String, Set<String>?, Set<String>?)] =
            switch kind {
            case .download: [("all schemes", schemes, other.schemes)]
            case .decode: [("all formats", formatsIn, other.formatsIn)]
            case .transform:
                [("all formats", formatsOut, other.formatsOut), ("all steps", steps, other.steps)]
            case .cache, .coordinator: []
            }
        for (name, own, others) in lists {
            guard let others else { continue }
            guard let own else { return name }
            if let missing = own.subtracting(others).min() { return missing }
        }
        return nil
    }

    /// Returns the entries that `other` lacks, in order; only lists restricted on both sides are
    /// compared.
    public func excess(over other: WorkerCapabilities) -> [String] {
        [
            (schemes, other.schemes), (formatsIn, other.formatsIn),
            (formatsOut, other.formatsOut), (steps, other.steps),
        ].flatMap { own, others in
            guard let own, let others else { return [String]() }
            return own.subtracting(others).sorted()
        }
    }

    /// Returns whether the format is decoded. Unrecognized bytes have a format name as well and are
    /// decoded if that, or all formats, are included.
    public func decodes(_ format: ImageFormat?) -> Bool {
        formatsIn?.contains((format ?? .undefined).name) ?? true
    }
}

/// A pool without connected workers, whose jobs have to wait.
package struct MissingWorkers: Hashable, Sendable, CustomStringConvertible {
    package let pool: PoolName
    private let kind: WorkerKind
    /// Whether its workers are plug-ins.
    package let isExternal: Bool

    /// Creates a description of a pool without connected workers.
    package init(_ pool: PoolName, kind: WorkerKind, isExternal: Bool) {
        (self.pool, self.kind, self.isExternal) = (pool, kind, isExternal)
    }

    /// A sentence that includes how to fix it.
    package var description: String { "no worker of the pool '\(pool)' is connected: \(advice)" }

    private var advice: String {
        guard !isExternal else {
            return "start the plug-in, which connects at back/\(pool)"
        }
        guard pool != PoolName(kind) else {
            return "start one with imagebus serve, or with serve --only \(kind.name) if each kind "
                + "runs separately"
        }
        return "start one with imagebus serve, whose configuration sets the number, or with serve "
            + "--only \(kind.name) --pool \(pool) if each kind runs separately"
    }
}
