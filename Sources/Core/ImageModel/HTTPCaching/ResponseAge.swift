/// How old an answer of an origin is, and how long its `Expires` lets it live: what only who got it
/// can know (RFC 9111 §4.2.3).
public struct ResponseAge: Hashable, Sendable {
    /// The moment at which its age was 0, in milliseconds since 1970: never before 0.
    public var bornMilliseconds: Int64
    /// Seconds from its `Date` to its `Expires`, 0 where that is past or no date; `nil` without
    /// one.
    public var expiresInSeconds: Int64?

    /// What is known of an answer.
    public init(bornMilliseconds: Int64, expiresInSeconds: Int64? = nil) {
        self.bornMilliseconds = bornMilliseconds
        self.expiresInSeconds = expiresInSeconds
    }

    /// Reads the fields as they came; the moments are milliseconds since 1970. Several `Age` fields
    /// are their list, of which the first counts; one that is no number says nothing
    /// (RFC 9111 §5.1).
    public init(
        date: String?, age: String?, expires: String?, asked: Int64, answered: Int64
    ) {
        let now = answered / 1_000
        let said = date.flatMap { HTTPDate.seconds($0, now: now) }
        let apparent = said.map { max(0, answered - $0 * 1_000) } ?? 0
        let first = age.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false).first }
        let told = first.flatMap { DeltaSeconds.parse(Self.trimmed($0)) } ?? 0
        let corrected = told * 1_000 + max(0, answered - asked)
        bornMilliseconds = max(0, answered - max(apparent, corrected))
        expiresInSeconds = expires.map { text in
            guard let end = HTTPDate.seconds(text, now: now) else { return 0 }
            return min(max(0, end - (said ?? now)), DeltaSeconds.most)
        }
    }

    /// Whether its age is known at a moment in milliseconds since 1970. It is not if the clock was
    /// set back after the answer came.
    package func isKnown(at now: Int64) -> Bool { Self.isBorn(bornMilliseconds, at: now) }

    /// Two processes that look at one clock may see a second of difference.
    static func isBorn(_ born: Int64, at now: Int64) -> Bool { born <= now + 1_000 }

    private static func trimmed(_ text: Substring) -> Substring {
        let front = text.drop { $0 == " " || $0 == "\t" }
        return front.prefix { $0 != " " && $0 != "\t" }
    }
}
