public import ImageModel

// A worker tells of an origin that has nothing new by a failure, whose details have what else the
// origin said.
extension ImageError {
    /// The origin says that nothing changed, and who may keep that for how long.
    public static func notModified(_ control: CacheControl, _ age: ResponseAge?) -> ImageError {
        var details: [String: String] = [:]
        details["cacheControl"] = control.field
        details["born"] = age.map { String($0.bornMilliseconds) }
        details["expiresIn"] = age?.expiresInSeconds.map { String($0) }
        return ImageError(
            .cacheNotModified, "the origin says that nothing changed", details: details)
    }

    /// What it says of keeping its answer.
    public var confirmedControl: CacheControl { CacheControl(details["cacheControl"]) }

    /// How old that answer is; `nil` where the worker did not say, or nothing that can be.
    public var confirmedAge: ResponseAge? {
        guard let born = number("born"), HTTPExpiry.bornRange.contains(born) else { return nil }
        return ResponseAge(
            bornMilliseconds: born,
            expiresInSeconds: number("expiresIn").map { min(max(0, $0), DeltaSeconds.most) })
    }

    private func number(_ detail: String) -> Int64? { details[detail].flatMap { Int64($0) } }
}
