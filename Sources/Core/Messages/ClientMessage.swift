public import ImageModel

/// What a client says to the coordinator (PROTOCOL §8.2).
public enum ClientMessage: Hashable, Sendable {
    /// First after every handshake.
    case hello(ClientHello)
    /// Load an image.
    case load(LoadRequest)
    /// End a request with `cancelled`.
    case cancel(Token)
    /// End all requests of a group that were admitted before on this connection.
    case cancelGroup(GroupID)
    /// A request is wanted more or less than before.
    case reprioritise(Token, Priority)
    /// The same for all requests of a group that were admitted before on this connection.
    case reprioritiseGroup(GroupID, Priority)
    /// Load images that will be wanted.
    case prefetch(PrefetchRequest)
    /// These large blocks of `results/` are no longer read.
    case release([BlockID])
    /// Report processes, queues and counters.
    case status
    /// List or change what is not tried; on `admin/` only.
    case blacklist(BlacklistCommand)
    /// Look for one entry of a cache, or remove it; on `admin/` only.
    case cache(CacheCommand)
    /// A part of the bytes that a load brings along.
    case piece(Piece)
    /// So many bytes of pieces were taken.
    case taken(UInt64)
    /// The processes of a kind, or of one pool of it, finish what they have and end; on `admin/`
    /// only.
    case drain(WorkerKind, PoolName? = nil)
    /// Begin no transfers until `resume`, or begin them again; on `admin/` only. Answered by a
    /// status.
    case downloads(DownloadCommand)
    /// Loads that were answered by vouchers.
    case used(UsedVouchers)
    /// The client ends in order; whose connection ends without it has died.
    case goodbye
}

/// A client introduces itself.
public struct ClientHello: Hashable, Sendable {
    /// This life of the client; tokens belong to it.
    public var incarnation: Incarnation
    /// Its process id, for people.
    public var pid: UInt32
    /// Library version, for people.
    public var version: String
    /// Whether it cannot open `results/` and wants the bytes of all its loads in pieces.
    public var wantsPieces: Bool
    /// What an operator of a stack found beside the socket; nil where there is none.
    public var secret: ListenerSecret?
    /// What it is, where it is a program of the stack.
    public var front: FrontProcess?
    /// Whether it reads messages of several replies.
    public var takesBatches: Bool

    /// An introduction.
    public init(
        incarnation: Incarnation, pid: UInt32, version: String, wantsPieces: Bool = false,
        secret: ListenerSecret? = nil, front: FrontProcess? = nil, takesBatches: Bool = false
    ) {
        self.front = front
        self.takesBatches = takesBatches
        self.incarnation = incarnation
        self.pid = pid
        self.version = version
        self.wantsPieces = wantsPieces
        self.secret = secret
    }
}

/// A request on the wire.
public struct LoadRequest: Hashable, Sendable {
    /// Names it for cancelling and replies.
    public var token: Token
    /// A set it belongs to.
    public var group: GroupID?
    /// What is wanted.
    public var image: ImageRequest
    /// Whether progress events are wanted.
    public var wantsProgress: Bool
    /// Whether they are to say what the header says, as soon as it is there
    /// (`RequestProgress.info`). Such a load is told of progress, too.
    public var wantsInfo: Bool
    /// Counts how often the client found the bytes of a reply reused; from 1 on, the copy in
    /// memory is not trusted and is made anew.
    public var staleRetries: UInt8
    /// Whether the request goes on when the client's connection ends (SEMANTICS §8.5). A client of
    /// the same incarnation attaches to it again with the same token.
    public var detach: Bool
    /// Whether the bytes are wanted in pieces, and not by reference.
    public var wantsPieces: Bool
    /// Bytes that the client brings along in pieces, instead of a URL; 0: none.
    public var uploadBytes: UInt64
    /// The slot of this client that the image is for, up to `RequestLimits.nameBytesMax` bytes: an
    /// older load of the slot is cancelled first, and its reply comes first
    /// (SEMANTICS §8.7).
    public var slot: String?
    /// What logs say of it.
    public var logContext: LogContext
    /// Whom of its own users the client loads it for: any number that tells them apart; 0: nobody
    /// in particular. Their loads take turns in what the client has (SEMANTICS §9.1).
    public var visitor: UInt64

    /// Describes a load.
    @inlinable
    public init(
        token: Token, group: GroupID? = nil, image: ImageRequest, wantsProgress: Bool = false,
        wantsInfo: Bool = false, staleRetries: UInt8 = 0, detach: Bool = false,
        wantsPieces: Bool = false,
        uploadBytes: UInt64 = 0, slot: String? = nil,
        logContext: LogContext = LogContext(), visitor: UInt64 = 0
    ) {
        self.visitor = visitor
        self.token = token
        self.group = group
        self.image = image
        self.wantsProgress = wantsProgress
        self.wantsInfo = wantsInfo
        self.staleRetries = staleRetries
        self.detach = detach
        self.wantsPieces = wantsPieces
        self.uploadBytes = uploadBytes
        self.slot = slot
        self.logContext = logContext
    }
}
