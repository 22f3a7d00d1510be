/// Limits of messages (PROTOCOL §2, §7).
public enum MessageLimits {
    /// `MAXMSGSIZE` of the sockets in `back/`: no payload can travel there by mistake.
    public static let backFrameBytesMax = 32 * 1024
    /// `MAXMSGSIZE` of the sockets in `front/` and `admin/`.
    public static let frontFrameBytesMax = 96 * 1024
    /// Frames of a message.
    public static let framesMax = 3
    /// Bytes of a payload that may travel inline.
    public static let inlineBytesMax = 4 * 1024
    /// Ids in one `Release`, `Touched` or `Evicted`, and in `Job.released`.
    public static let idsMax = 1024
    /// Blocks that one outcome hands over: with everything around them, the references of so many
    /// and the layouts of their pixels fit a frame in `back/`.
    public static let blocksPerOutcomeMax = 64
    /// Segments in one announcement.
    public static let segmentsMax = 256
    /// Details of an error.
    public static let detailsMax = 16
    /// Bytes of an error's message and of each detail.
    public static let textBytesMax = 1024
    /// Bytes of a cache key: a URL and all that is put into it.
    public static let keyBytesMax = 12 * 1024
    /// Bytes of each header that the origin sent and that travels on.
    public static let originHeaderBytesMax = 1024
    /// Patterns of permitted sources that go along with a fetch, and bytes of all of them.
    public static let sourcesMax = 64
    /// See `sourcesMax`.
    public static let sourcesBytesMax = 4 * 1024
    /// Entries in one report of the blacklist, and bytes of their URLs in all.
    public static let blacklistEntriesMax = 256
    /// See `blacklistEntriesMax`.
    public static let blacklistBytesMax = 48 * 1024
    /// Bytes of a payload in one piece: with all around it the frame stays below 64 KB.
    public static let pieceBytesMax = 60 * 1024
    /// Bytes of pieces on the way to or from one client that were not said to be taken.
    public static let pieceWindowBytes = 4 << 20
    /// URLs in one part of a prefetch; the bytes of a frame limit them as well.
    public static let prefetchURLsMax = 1_024
    /// Loads or replies in one message.
    public static let batchMax = 64
    /// Bytes of the body of each of them: a batch that is full fits a frame.
    public static let batchedBodyBytesMax = 1_200
    /// Loads of one client without a reply.
    public static let windowMax = 4_096
}
