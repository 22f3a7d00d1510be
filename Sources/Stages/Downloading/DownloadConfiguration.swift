import Messages

/// What holds for all transfers of a download worker.
public struct DownloadConfiguration: Hashable, Sendable {
    /// Whether loopback, private and link-local addresses may be connected to.
    public var allowsPrivateNetworks = false
    /// `IP:PORT` or `[IPv6]:PORT`, each allowed whatever its scope.
    public var allowedAddresses: [String] = []
    /// Path of certificates in PEM that are trusted in place of the system's.
    public var certificatesFile: String?
    /// `User-Agent`, unless a request brings its own.
    public var userAgent: String
    /// Which responses bring an image.
    public var accepted = AcceptedResponses()
    /// The URL of the proxy through which all goes; it resolves names.
    public var proxy: String?
    /// `IP` or `IP/BITS`, none of which is connected to, whoever allows it.
    public var deniedAddresses: [String] = []
    /// Transfers at a time at most; one more is answered *busy*.
    public var jobsMax = Int(WorkerKind.download.creditMax)
    /// Milliseconds for resolving a name and connecting.
    public var connectTimeoutMilliseconds = 10_000
    /// Milliseconds for a whole transfer, whatever its deadline says.
    public var totalTimeoutMilliseconds = 300_000
    /// A transfer slower than this many bytes a second …
    public var lowSpeedBytesPerSecond = 1_024
    /// … for this many seconds ends as timed out.
    public var lowSpeedSeconds = 15
    /// Redirects followed at most.
    public var redirectsMax = 10
    /// How often at most a transfer that broke off goes on where it was; 0: it ends.
    public var continuationsMax = 3
    /// Milliseconds between two progress reports of a transfer at least.
    public var progressIntervalMilliseconds = 100
    /// Milliseconds after which bytes that were looked at are handed out once more where no others
    /// have come. Whoever looked may have had no time for them.
    public var handOutAgainMilliseconds = 200

    /// The defaults suit images from the public internet; `version` goes into `User-Agent`.
    public init(version: String) {
        userAgent = "Imagebus/\(version)"
    }

    var handingOut: EarlyBody.Pace {
        EarlyBody.Pace(interval: progressIntervalMilliseconds, again: handOutAgainMilliseconds)
    }
}
