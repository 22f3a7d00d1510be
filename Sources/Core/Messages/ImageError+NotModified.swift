public import ImageModel

// A worker tells of an origin that has nothing new by a failure, whose details have what else the
// origin said.
extension ImageError {
    /// The origin says that nothing changed, and who may keep that for how long.
    public static func notModified(_ caching: OriginCaching) -> ImageError {
        var details: [String: String] = [:]
        details["cacheControl"] = caching.cacheControl.field
        details["born"] = String(caching.age.bornMilliseconds)
        details["expiresIn"] = caching.age.expiresInSeconds.map { String($0) }
        return ImageError(
            .cacheNotModified, "the origin says that nothing changed", details: details)
    }

    /// What it says of keeping its answer.
    public var confirmedControl: CacheControl { CacheControl(details["cacheControl"]) }

    /// What that answer says of caching; `nil` where the worker did not say how old it is, or
    /// nothing that can be.
    public var confirmedCaching: OriginCaching? {
        guard let born = number("born"), HTTPExpiry.bornRange.contains(born) else { return nil }
        let age = ResponseAge(
            bornMilliseconds: born,
            expiresInSeconds: number("expiresIn").map { min(max(0, $0), DeltaSeconds.most) })
        return OriginCaching(confirmedControl, age)
    }

    private func number(_ detail: String) -> Int64? { details[detail].flatMap { Int64($0) } }
}
