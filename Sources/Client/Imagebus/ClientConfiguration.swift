public import Messages
public import SharedArena

/// Where a client connects, and how bytes come to it.
public struct ClientConfiguration: Hashable, Sendable {
    /// The socket's path: `front.sock` for loads, `admin.sock` for operators.
    public var endpoint: String
    /// `results/` of the same stack, from which delivered bytes are read.
    public var resultsDirectory: String
    /// Milliseconds for which a request waits for somebody to serve the endpoint; it then ends with
    /// `unavailable`.
    public var connectTimeoutMilliseconds: Int
    /// Whether somebody who serves the endpoint is waited for that long. If not, a client whose
    /// first connection nobody takes ends at once, and its requests with it.
    public var awaitsCoordinator = true
    /// Users whose coordinator may serve the endpoint, such as root and the user itself. A client
    /// that meets another one sends nothing, and its requests end with `addressForbidden`. `nil`:
    /// whoever serves it, since the endpoint itself is trusted.
    public var servers: Set<UInt32>?
    /// How the bytes of images come.
    public var delivery = Delivery.automatic
    /// Whether answers of the memory tier are given again without asking, for as long as the
    /// coordinator says that they stand (SEMANTICS §5.24).
    public var repeatsAnswers = true
    /// Whether loads that ask for the same before the first of them was sent are one message: each
    /// ends by itself, and the stack is asked, counts and logs once (SEMANTICS §3.6). Without it
    /// each is a message, which the stack has share the work.
    public var sharesLoads = true
    /// What the client keeps in its own process, so that it is given again without a copy
    /// (`ImagebusClient.memory`); `nil`: nothing. Without `repeatsAnswers`, and where the
    /// coordinator issues no vouchers, nothing is given of it but what may be stale.
    public var memoryCache: MemoryCacheLimits?
    /// Bytes of one image that comes in pieces at most; a larger one ends its load with
    /// `limitExceeded`. At least 1. What lies in shared memory is not limited here.
    public var piecedImageBytesMax = 1 << 30

    /// What the client is, where it is a program of the stack: `imagebus status` lists it.
    public var front: FrontProcess?

    /// Names both by absolute paths.
    public init(endpoint: String, resultsDirectory: String, connectTimeoutMilliseconds: Int = 5_000)
    {
        self.endpoint = endpoint
        self.resultsDirectory = resultsDirectory
        self.connectTimeoutMilliseconds = connectTimeoutMilliseconds
    }

    /// The stack of a runtime directory: its `front` listener, or `admin` for operators.
    public init(
        runtimeDirectory: String, isOperator: Bool = false,
        connectTimeoutMilliseconds: Int = 5_000
    ) throws(RuntimePathsError) {
        let paths = try RuntimePaths(resolving: runtimeDirectory)
        self.init(
            endpoint: isOperator ? paths.adminSocket : paths.frontSocket,
            resultsDirectory: paths.resultsDirectory,
            connectTimeoutMilliseconds: connectTimeoutMilliseconds)
    }
}
