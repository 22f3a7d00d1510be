import Messages

/// Which names may be looked up while many lookups are under way.
///
/// A lookup is a thread of libcurl's. It lasts as long as the resolver of the system asks, 10 s and
/// more of a name server that says nothing, and nobody can end it before: a transfer that is
/// cancelled leaves it behind. So silent name servers could take all threads that this process may
/// have. Beyond some of them, domains are refused of which lookups were left behind; beyond most of
/// them, all domains but those whose names were found.
struct NameLookups {
    private var leftBehind: [String: (count: Int, until: Instant)] = [:]
    private var found: Set<String> = []

    /// Threads up to which every name is looked up: more than there are transfers at a time.
    static let threadsFew = 288
    /// Threads up to which names of unknown domains are looked up. Units and containers permit 512.
    static let threadsMany = 416
    /// Lookups left behind from which on a domain is one that does not answer.
    static let leftBehindMax = 8
    /// Milliseconds after the last one for which a domain is that.
    static let rememberedMilliseconds = 30_000
    /// Domains that are remembered as either, at most.
    static let domainsMax = 4_096

    /// Whether a name may be looked up by a process that has so many threads.
    func permits(_ host: String, threads: Int, at now: Instant) -> Bool {
        guard threads > Self.threadsFew else { return true }
        let domain = Self.domain(of: host)
        if let silent = leftBehind[domain], silent.until > now, silent.count >= Self.leftBehindMax {
            return false
        }
        return threads <= Self.threadsMany || found.contains(domain)
    }

    /// A name was found.
    mutating func found(_ host: String) {
        if found.count >= Self.domainsMax { found = [] }
        found.insert(Self.domain(of: host))
    }

    /// A transfer ended before its name was found, and left the lookup behind.
    mutating func leftBehind(_ host: String, at now: Instant) {
        let domain = Self.domain(of: host)
        let known = leftBehind[domain].map { $0.until > now ? $0.count : 0 } ?? 0
        if leftBehind.count >= Self.domainsMax, known == 0 { leftBehind = [:] }
        leftBehind[domain] = (known + 1, now.adding(milliseconds: Self.rememberedMilliseconds))
    }

    /// Whose name servers are asked, as far as a name tells: its last two labels.
    private static func domain(of host: String) -> String {
        host.lowercased().split(separator: ".").suffix(2).joined(separator: ".")
    }
}
