/// How a body came from its origin. For people and tests: nothing depends on what a worker says
/// here.
public struct FetchAccount: Hashable, Sendable {
    /// Of the last transfer, counted from its begin: when the name had addresses, when it was
    /// connected, when TLS was there, and when the first byte came, in milliseconds. 0 where there
    /// was nothing to be done: no name, a connection of before, no TLS.
    public var (name, connect, tls, firstByte) = (0.0, 0.0, 0.0, 0.0)
    /// From the begin of the first transfer to the end of the last one, in milliseconds.
    public var total = 0.0
    /// Bytes of the last transfer, content codings not undone.
    public var bytes: UInt64 = 0
    /// The version of HTTP, such as `1.1` or `2`; empty where it is not known.
    public var httpVersion = ""
    /// Address and port that were asked, such as `203.0.113.7:443`; empty where it is not known.
    public var address = ""
    /// Whether the connection was there before.
    public var isReused = false
    /// Redirects that were followed.
    public var redirects: UInt32 = 0
    /// How often it broke off and went on.
    public var continuations: UInt32 = 0

    /// Nothing is known.
    public init() {}
}
