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
