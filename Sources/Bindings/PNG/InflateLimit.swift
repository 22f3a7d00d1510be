internal import CPNG

/// How many bytes the libraries of this process may inflate: libpng has no limit that counts what
/// lies behind the pixels or in texts. There is none until one is set. Any thread.
public enum InflateLimit {
    /// Lifts the limit.
    public static func lift() { cpng_lift_inflate_limit() }

    /// Nothing may be inflated until it is permitted; `each` bytes come with every permission.
    public static func begin(each: Int) { cpng_limit_inflate(UInt64(clamping: min(each, most))) }

    /// So many bytes more may be inflated.
    public static func permit(_ bytes: Int) {
        cpng_permit_inflate(UInt64(clamping: min(bytes, most)))
    }

    /// More than any process inflates, and little enough to be added up.
    private static let most = 1 << 48

    /// Whether more was to be inflated than was permitted. What was read then is incomplete.
    public static var isExceeded: Bool { cpng_is_inflate_exceeded() != 0 }
}
