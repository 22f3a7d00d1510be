/// How one transfer went (`curl_easy_getinfo(3)`). Times are counted from its begin.
public struct TransferFigures: Hashable, Sendable {
    /// The name had addresses; 0 where the connection was there before.
    public let nameMicroseconds: Int64
    /// The connection was there; 0 where it was there before.
    public let connectMicroseconds: Int64
    /// TLS was there; 0 without, and where it was there before.
    public let tlsMicroseconds: Int64
    /// The first byte came.
    public let firstByteMicroseconds: Int64
    /// Of the body, content codings not undone.
    public let bytes: Int64
    /// `1.0`, `1.1` or `2`; empty where there was no answer.
    public let httpVersion: String
    /// `127.0.0.1:80` or `[::1]:80`; empty where nothing was connected.
    public let address: String
    /// Whether the connection was there before.
    public let isReused: Bool
}
