import Curl

/// The cookie jars of a download worker, by name; a name is that of one identity.
final class CookieJars {
    private var jars: [String: (jar: CookieJar, used: UInt64)] = [:]
    private var uses: UInt64 = 0

    /// Jars at most; one more takes the place of that which was used longest ago.
    static let countMax = 256

    /// The jar of a name, made where it is missing.
    func jar(_ name: String, of transfers: borrowing TransferSet) throws(CurlError) -> CookieJar {
        uses += 1
        if let known = jars[name]?.jar {
            jars[name]?.used = uses
            return known
        }
        if jars.count >= Self.countMax, let oldest = jars.min(by: { $0.value.used < $1.value.used })
        {
            jars[oldest.key] = nil
        }
        let jar = try transfers.makeJar()
        jars[name] = (jar, uses)
        return jar
    }
}
