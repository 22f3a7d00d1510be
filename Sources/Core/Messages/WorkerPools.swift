public import ImageModel

/// One of the pools of a stack: an index into them.
public struct PoolID: Hashable, Comparable, Sendable {
    /// Its place among all.
    public let index: Int

    /// The pool that every stack has of a kind.
    public init(_ kind: WorkerKind) { index = Int(kind.rawValue) }

    fileprivate init(_ index: Int) { self.index = index }

    /// In the order of all.
    public static func < (left: PoolID, right: PoolID) -> Bool { left.index < right.index }
}

/// All pools of a stack. Those that every stack has come first, by the raw value of their kind, the
/// coordinator's among them; then the others in the order of the configuration.
public struct WorkerPools: Hashable, Sendable {
    /// Further pools at most: each has a listener and a queue.
    public static let furtherMax = 16

    /// By index.
    public let all: [WorkerPool]
    /// Pools of workers, by index.
    public let workers: [PoolID]
    /// By raw value of the kind: who is asked in turn, the further pools before the one of every
    /// stack, and first the one that draws.
    private let byKind: [[PoolID]]
    /// By raw value of the kind: whether its one pool is granted everything.
    private let areOpen: [Bool]

    /// The pools of every stack and those that are configured. One that is named as a kind is the
    /// pool of every stack with another grant and other limits.
    public init(_ configured: [WorkerPool] = []) {
        let builtIn = WorkerKind.allCases.map { kind in
            configured.first { $0.isBuiltIn && $0.kind == kind } ?? WorkerPool(kind)
        }
        let all = builtIn + configured.filter { !$0.isBuiltIn }.prefix(Self.furtherMax)
        self.all = all
        workers = all.indices.map(PoolID.init).filter { all[$0.index].kind != .coordinator }
        byKind = WorkerKind.allCases.map { kind in
            let further = all.indices.dropFirst(builtIn.count).filter { all[$0].kind == kind }
            // Another pool of ours may be granted every format, and does not draw all the same.
            let drawing = further.filter { all[$0].name == .vector }
            let others = further.filter { all[$0].name != .vector }
            return (drawing + others).map(PoolID.init) + [PoolID(kind)]
        }
        areOpen = byKind.map { $0.count == 1 && all[$0[0].index].grant == .all }
    }

    /// One of them.
    public subscript(id: PoolID) -> WorkerPool { all[id.index] }

    /// Those of a kind: whoever is first and is granted a job gets it.
    public func pools(of kind: WorkerKind) -> [PoolID] { byKind[Int(kind.rawValue)] }

    /// Whether all pools of the kind may do all work of it: then there is nothing to look at.
    public func isOpen(_ kind: WorkerKind) -> Bool { areOpen[Int(kind.rawValue)] }

    /// What the workers of a pool do. Asked for each job: unlike the pool itself, it is no copy of
    /// its grant.
    public func kind(of id: PoolID) -> WorkerKind { all[id.index].kind }

    /// Whether its workers are a cache, and not the one of every stack.
    public func isForeignCache(_ id: PoolID) -> Bool {
        kind(of: id) == .cache && id != PoolID(.cache)
    }

    /// Those that configuration added, in its order.
    public var further: [WorkerPool] { all.filter { !$0.isBuiltIn } }

    /// The pool of that name.
    public func id(of name: PoolName) -> PoolID? {
        all.firstIndex { $0.name == name }.map(PoolID.init)
    }
}

// What pools of somebody else are granted to do with images.
extension WorkerPools {
    /// Whether they are granted that step.
    public func areGranted(step name: String) -> Bool {
        foreignTransformers { $0.steps?.contains(name) == true }
    }

    /// Whether they are granted that format of results. PAM between steps is none.
    public func areGranted(output format: ImageFormat) -> Bool {
        format != .pam && foreignTransformers { $0.formatsOut?.contains(format.name) == true }
    }

    /// Whether they are granted to decode that; `nil`: what no signature tells.
    package func isDecodedElsewhere(_ format: ImageFormat?) -> Bool {
        pools(of: .decode).contains { self[$0].trust == .foreign && self[$0].grant.decodes(format) }
    }

    /// Whether they encode what is wanted so. A format that ours encode as well goes to theirs
    /// where the request names it, and no setting but its quality: others are ours.
    package func foreignEncodes(_ output: OutputOptions) -> Bool {
        guard let format = output.format, areGranted(output: format) else { return false }
        return !format.isEncodable
            || output == OutputOptions(format: format, quality: output.quality)
    }

    private func foreignTransformers(have isMet: (WorkerCapabilities) -> Bool) -> Bool {
        pools(of: .transform).contains { self[$0].isForeignTransformer && isMet(self[$0].grant) }
    }
}

/// Interchangeable workers of one kind: one program, one user, one listener, one grant.
///
/// Every stack has one of each kind. Others are configuration: a second pool of decoders that takes
/// one format alone, or workers that are somebody else's program.
public struct WorkerPool: Hashable, Sendable {
    /// Whose program its workers are.
    public enum Trust: UInt8, Hashable, Sendable, CaseIterable {
        /// That of this release; `serve` starts them.
        case own = 0
        /// Somebody else's, who starts them, unless the pool has a command.
        case foreign = 1

        /// The word in the configuration and in the status.
        public var name: String {
            switch self {
            case .own: "own"
            case .foreign: "foreign"
            }
        }
    }

    /// Its name.
    public let name: PoolName
    /// What its workers do.
    public let kind: WorkerKind
    /// Whose program they are.
    public var trust = Trust.own
    /// What they may do; nothing that a worker says widens it.
    public var grant = WorkerCapabilities.all
    /// Processes that `serve` starts.
    public var workers = 1
    /// Of a foreign pool whose workers `serve` starts: the path of their program, and its
    /// arguments; `nil`: somebody else starts them, or the program is our own.
    public var command: [String]?
    /// Jobs that each takes at a time at most; `nil`: what its kind takes.
    public var credit: UInt32?
    /// Bytes of finished output in use beyond which it starts nothing new; `nil`: what its kind
    /// has.
    public var outputBytesMax: UInt64?

    /// A pool of the own program that may do everything of its kind.
    public init(name: PoolName, kind: WorkerKind) {
        self.name = name
        self.kind = kind
    }

    /// The pool that every stack has of a kind.
    public init(_ kind: WorkerKind) { self.init(name: PoolName(kind), kind: kind) }

    /// Whether every stack has it.
    public var isBuiltIn: Bool { name == PoolName(kind) }

    /// Whether a list is empty of which each of its jobs needs an entry: then it gets no job.
    public var getsNoJob: Bool {
        switch kind {
        case .download: grant.schemes?.isEmpty == true
        case .decode: grant.formatsIn?.isEmpty == true
        case .transform: grant.formatsOut?.isEmpty == true
        case .cache, .coordinator: false
        }
    }

    /// Whether its workers do a step of their own, from pixels to pixels, or encode pixels as they
    /// are, one of these a job; others that transform do steps of ours and encode.
    public var isForeignTransformer: Bool { kind == .transform && trust == .foreign }

    /// Jobs that one of its workers takes at a time at most.
    public var creditMax: UInt32 { credit ?? kind.creditMax }

    /// Whether a loader of the configuration names it: then it gets the jobs of that alone, and not
    /// those of others whose scheme it is granted.
    public var isLoader = false

    /// Words of a command at most, the program among them.
    public static let commandWordsMax = 64
    /// Bytes of one of them at most.
    public static let commandWordBytesMax = 1_024

    /// Kinds of which there may be further pools of the own program. There is one cache: with two
    /// of them a key would have two values.
    public static let kinds: [WorkerKind] = [.download, .decode, .transform]
    /// Kinds of foreign pools. A cache of others has a name of its own (SEMANTICS §5.26).
    public static let foreignKinds: [WorkerKind] = kinds + [.cache]
}

extension PoolName {
    /// The pool of the decoders that draw: its workers decode drawings and nothing else, and are
    /// closed in more tightly than those of other pools.
    public static let vector: PoolName = {
        guard let name = PoolName("vector") else { preconditionFailure("a name of a pool") }
        return name
    }()

    /// Whether it is that one.
    public var draws: Bool { self == .vector }

    /// The formats that own decoders of this pool have.
    package var family: FormatFamily { draws ? .vector : .raster }
}

extension WorkerPool {
    /// The pool of the decoders that draw, with so many workers.
    public static func vector(workers: Int) -> WorkerPool {
        var pool = WorkerPool(name: .vector, kind: .decode)
        pool.grant.formatsIn = Set(ImageFormat.decodable(.vector).map(\.name))
        pool.workers = workers
        return pool
    }
}

extension [WorkerPool] {
    /// These pools and that of the decoders that draw, with so many workers; as they are where none
    /// is asked for. Where the configuration has this pool, only the number of workers is another.
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

/// Names a pool of workers, and with it its listener `back/<pool>` and its segments `arena/<pool>`.
///
/// A letter, then letters, digits and `-`, all small: safe as the name of a directory. Its 16 bytes
/// at most lie in the value itself, since every reference to bytes in shared memory has one.
public struct PoolName: Hashable, Sendable, CustomStringConvertible {
    /// Bytes of a name at most.
    public static let bytesMax = 16

    private let first: UInt64
    private let second: UInt64

    /// `nil` where no pool may be called so.
    public init?(_ text: String) {
        guard (1...Self.bytesMax).contains(text.utf8.count),
            let head = text.utf8.first, (0x61...0x7A).contains(head),
            text.utf8.allSatisfy(Self.isPermitted)
        else { return nil }
        self.init(permitted: text)
    }

    /// The pool that every stack has of a kind.
    public init(_ kind: WorkerKind) { self.init(permitted: kind.name) }

    private init(permitted text: String) {
        var (first, second) = (UInt64(0), UInt64(0))
        for (index, byte) in text.utf8.enumerated() {
            let bits = UInt64(byte) << UInt64(index % 8 * 8)
            if index < 8 { first |= bits } else { second |= bits }
        }
        (self.first, self.second) = (first, second)
    }

    private static func isPermitted(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x61...0x7A, 0x30...0x39, 0x2D: true
        default: false
        }
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

/// What workers can do, or may: each list is all of what is known where it is `nil`.
public struct WorkerCapabilities: Hashable, Sendable {
    /// Schemes of URLs that are fetched.
    public var schemes: Set<String>?
    /// Names of formats that are decoded.
    public var formatsIn: Set<String>?
    /// Names of formats that are encoded.
    public var formatsOut: Set<String>?
    /// Names of the steps of a transformation, custom ones among them.
    public var steps: Set<String>?

    /// Entries of one list at most.
    public static let entriesMax = 64
    /// Bytes of one entry at most.
    public static let entryBytesMax = 64

    /// Everything.
    public static let all = WorkerCapabilities()

    /// What the lists name.
    public init(
        schemes: Set<String>? = nil, formatsIn: Set<String>? = nil,
        formatsOut: Set<String>? = nil, steps: Set<String>? = nil
    ) {
        self.schemes = schemes
        self.formatsIn = formatsIn
        self.formatsOut = formatsOut
        self.steps = steps
    }

    /// Whether a list may have that entry: a letter or digit, then also `.`, `_`, `+` and `-`.
    public static func isEntry(_ text: String) -> Bool {
        guard (1...entryBytesMax).contains(text.utf8.count), let head = text.utf8.first,
            isLetterOrDigit(head)
        else { return false }
        return text.utf8.allSatisfy { isLetterOrDigit($0) || "._+-".utf8.contains($0) }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: false
        }
    }

    /// The first entry of the lists of that kind that `other` does not have, or the name of a list
    /// that is everything here and not there; `nil` where `other` can do all of it.
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

    /// Entries that `other` does not have, in order: of use only where both name their lists.
    public func excess(over other: WorkerCapabilities) -> [String] {
        [
            (schemes, other.schemes), (formatsIn, other.formatsIn),
            (formatsOut, other.formatsOut), (steps, other.steps),
        ].flatMap { own, others in
            guard let own, let others else { return [String]() }
            return own.subtracting(others).sorted()
        }
    }

    /// Whether bytes of that format are decoded. What no signature tells has a name as well: it is
    /// given to whoever is granted that, or all formats.
    public func decodes(_ format: ImageFormat?) -> Bool {
        formatsIn?.contains((format ?? .undefined).name) ?? true
    }
}

/// A pool of which no worker is connected: the jobs that it gets wait until one is.
package struct MissingWorkers: Hashable, Sendable, CustomStringConvertible {
    /// The pool.
    package let pool: PoolName
    private let kind: WorkerKind
    /// Whether its workers are somebody else's program.
    package let isForeign: Bool

    /// Of that pool none is connected.
    package init(_ pool: PoolName, kind: WorkerKind, isForeign: Bool) {
        (self.pool, self.kind, self.isForeign) = (pool, kind, isForeign)
    }

    /// One sentence, which says what to do.
    package var description: String { "no worker of the pool '\(pool)' is connected: \(advice)" }

    private var advice: String {
        guard !isForeign else {
            return "start one; it is somebody else's program, and connects at back/\(pool)"
        }
        guard pool != PoolName(kind) else {
            return "start one with imagebus serve, or with serve --only \(kind.name) where each "
                + "kind is served apart"
        }
        return "start one with imagebus serve, whose configuration says how many, or with serve "
            + "--only \(kind.name) --pool \(pool) where each kind is served apart"
    }
}
