/// Reasons that the log has named, so that each is named once, and a bounded number of them.
struct ReportedReasons {
    private var known: Set<String> = []
    private static let (countMax, bytesMax) = (100, 200)

    /// What is to be logged for a reason: itself the first time, `nil` later and where too many
    /// others were logged.
    mutating func take(_ reason: String) -> String? {
        let text = String(decoding: reason.utf8.prefix(Self.bytesMax), as: UTF8.self)
        guard known.count < Self.countMax, known.insert(text).inserted else { return nil }
        return text
    }
}
