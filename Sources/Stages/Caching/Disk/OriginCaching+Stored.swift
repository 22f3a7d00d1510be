internal import ImageModel

/// What is stored of an origin's words beside its `Cache-Control`: when the age of its response was
/// 0, in milliseconds since 1970, the seconds that `Expires` lets it live, and a star for
/// `Vary: *`, as in `1700000000000 60` and `1700000000000 - *`.
extension OriginCaching {
    var storedText: String {
        let lifetime = age.expiresInSeconds.map { String($0) } ?? "-"
        return "\(age.bornMilliseconds) \(lifetime)" + (variesOnEverything ? " *" : "")
    }

    /// Reads what was stored beside this `Cache-Control`; `nil` for what no version ever wrote.
    init?(storedText text: String, control field: String?) {
        guard text.utf8.count <= Self.storedBytesMax else { return nil }
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        if words.count == 4 {
            self.init(times: words.compactMap { Int64($0) }, field)
            return
        }
        guard words.count == 2 || (words.count == 3 && words[2] == "*"),
            let born = Int64(words[0]), HTTPExpiry.bornRange.contains(born)
        else { return nil }
        let lifetime = Int64(words[1])
        guard lifetime.map((0...DeltaSeconds.most).contains) ?? (words[1] == "-") else {
            return nil
        }
        self.init(
            CacheControl(field),
            ResponseAge(bornMilliseconds: born, expiresInSeconds: lifetime),
            variesOnEverything: words.count == 3)
        guard storedText == text else { return nil }
    }

    /// Earlier versions stored times that were computed for one cache: when its age was 0, for how
    /// long it was fresh, and how long after that it might be served while its origin was asked and
    /// where that failed, in milliseconds.
    private init?(times: [Int64], _ field: String?) {
        guard times.count == 4, HTTPExpiry.bornRange.contains(times[0]),
            times[1...].allSatisfy(HTTPExpiry.timeRange.contains)
        else { return nil }
        var control = CacheControl(field)
        if control.field == nil, times[1...].contains(where: { $0 > 0 }) {
            control.maxAge = times[1] / 1_000
            control.staleWhileRevalidate = times[2] / 1_000
            control.staleIfError = times[3] / 1_000
        }
        self.init(control, ResponseAge(bornMilliseconds: times[0]))
    }

    /// No stored text is longer.
    static let storedBytesMax = 80
}
