import ImageModel
import Linux
import Sodium

/// Names who asks, for cache keys, without telling it: a keyed digest of the credentials of a
/// request (SEMANTICS §4.6). The key is this installation's own, so that digests of guessed
/// passwords cannot be compared.
struct IdentityDigest: ~Copyable {
    private let digest: SharedDigest

    /// Unchecked: the key is written before anybody else knows it, lies in read-only memory from
    /// then on, and a digest is computed in memory of its own.
    private final class SharedDigest: @unchecked Sendable {
        private let digest: KeyedDigest

        init(_ key: [UInt8]) throws(SodiumError) { digest = try KeyedDigest(key: key) }

        /// Lengths keep apart what concatenation would mix up.
        func digest(_ parts: [String], of purpose: String) -> String {
            let text = parts.map { "\($0.utf8.count):\($0)" }.joined(separator: ",")
            return digest.digest(purpose + text).description
        }
    }

    /// Takes the key from its file (`IdentityKeyFile`). Without a path it lives as long as the
    /// process.
    init(keyFile path: String?) throws {
        let key = try path.map { (path) throws(IdentityKeyError) in
            try IdentityKeyFile(path: path).key()
        }
        digest = try SharedDigest(key ?? Random.bytes(count: KeyedDigest.keyLength))
    }

    /// The digest in hex, or `nil` where the request has no credentials. Where the configuration
    /// names the identity, the name stands for its secrets and for nothing else: what a client
    /// shows of its own keeps it apart from the others. One who sees the name cannot make the
    /// digest.
    borrowing func identity(of resolution: Resolution) -> String? {
        Self.identity(of: resolution, digest)
    }

    /// The same for those who ask later.
    var identify: @Sendable (Resolution) -> String? {
        let digest = digest
        return { Self.identity(of: $0, digest) }
    }

    private static func identity(of resolution: Resolution, _ digest: SharedDigest) -> String? {
        let userInfo = userInfo(of: resolution.request.url)
        let rules = resolution.terms.transfer.secrets
        // Most requests: nothing of them has to be put in order.
        guard userInfo != nil || !resolution.request.headers.isEmpty || !rules.isEmpty else {
            return nil
        }
        let headers = SourceKey(resolution.request).headers.filter {
            $0.isCredential || resolution.secretHeaders.contains($0.name)
        }
        guard userInfo != nil || !headers.isEmpty || !rules.isEmpty else { return nil }
        guard let name = resolution.identityName else {
            return rules.isEmpty
                ? digest.digest(parts(userInfo, headers), of: "")
                : digest.digest(rules + [""] + parts(userInfo, headers), of: "rules,")
        }
        let shown = headers.filter { !resolution.secretHeaders.contains($0.name) }
        // No list of credentials begins so: a length has digits.
        return digest.digest([name] + parts(userInfo, shown), of: "name,")
    }

    /// Without an `@` there is none.
    private static func userInfo(of url: String) -> String? {
        guard url.utf8.contains(UInt8(ascii: "@")) else { return nil }
        return (try? SourceURL(url))?.userInfo
    }

    private static func parts(_ userInfo: String?, _ headers: [HTTPHeader]) -> [String] {
        [userInfo ?? ""] + headers.flatMap { [$0.name, $0.value] }
    }

    /// The digest of header values on which an answer depends. It never is that of credentials.
    var variants: @Sendable ([HTTPHeader]) -> String {
        let digest = digest
        return { headers in
            digest.digest(headers.flatMap { [$0.name, $0.value] }, of: "vary,")
        }
    }
}
