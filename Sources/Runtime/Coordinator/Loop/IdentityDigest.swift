import Linux
import Model
import Sodium

/// Identifies the requester in cache keys without revealing credentials: a keyed digest of a
/// request's credentials (SEMANTICS §4.6). Each installation has its own key, so that digests of
/// guessed passwords can't be compared.
struct IdentityDigest: ~Copyable {
    /// Returns the digest in hex, or `nil` if the request has no credentials. If the configuration
    /// names the identity, the name replaces only the configured secrets; credentials that a client
    /// sends still distinguish it. Knowing the name is not sufficient to compute the digest.
    let identify: @Sendable (Resolution) -> String?
    /// The digest of the header values on which a response varies. Never equal to a digest of
    /// credentials.
    let variants: @Sendable ([HTTPHeader]) -> String

    /// Unchecked: the key is written before the object is shared and is in read-only memory from
    /// then on, and each digest is computed in its own memory.
    private final class SharedDigest: @unchecked Sendable {
        private let digest: KeyedDigest

        init(_ key: [UInt8]) throws(SodiumError) { digest = try KeyedDigest(key: key) }

        /// Returns the digest of the parts. Each is preceded by its length, so that different parts
        /// never concatenate to the same input.
        func digest(_ parts: [String], of purpose: String) -> String {
            let text = parts.map { "\($0.utf8.count):\($0)" }.joined(separator: ",")
            return digest.digest(purpose + text).description
        }
    }

    /// Reads the key from its file (`IdentityKeyFile`). Without a path, the key lives as long as
    /// the process.
    init(keyFile path: String?) throws {
        let key = try path.map { (path) throws(IdentityKeyError) in
            try IdentityKeyFile(path: path).key()
        }
        let digest = try SharedDigest(key ?? Random.bytes(count: KeyedDigest.keyLength))
        identify = { Self.identity(of: $0, digest) }
        variants = { headers in
            digest.digest(headers.flatMap { [$0.name, $0.value] }, of: "vary,")
        }
    }

    private static func identity(of resolution: Resolution, _ digest: SharedDigest) -> String? {
        let userInfo = userInfo(of: resolution.request.url)
        let rules = resolution.terms.transfer.secrets
        // Fast path for most requests, which have no credentials.
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
        // Can't collide with a list of credentials, which begins with a length in digits.
        return digest.digest([name] + parts(userInfo, shown), of: "name,")
    }

    /// Returns the user info of a URL, which requires an `@`.
    private static func userInfo(of url: String) -> String? {
        guard url.utf8.contains(UInt8(ascii: "@")) else { return nil }
        return (try? SourceURL(url))?.userInfo
    }

    private static func parts(_ userInfo: String?, _ headers: [HTTPHeader]) -> [String] {
        [userInfo ?? ""] + headers.flatMap { [$0.name, $0.value] }
    }
}

/// The file with the key of an installation, created atomically if it is missing.
struct IdentityKeyFile {
    let path: String

    /// Reads the key. Follows links, because a key may be mounted as one. If the file doesn't
    /// exist, creates it with mode 0600 in the directory of the path, without following links.
    func key() throws(IdentityKeyError) -> [UInt8] {
        if let key = try read() { return key }
        do throws(Errno) {
            if let key = try make() { return key }
        } catch {
            throw IdentityKeyError(path: path, fault: .notCreated(error))
        }
        // Another coordinator created it first.
        guard let key = try read() else {
            throw IdentityKeyError(path: path, fault: .deadLink)
        }
        return key
    }

    /// Returns `nil` if the file doesn't exist.
    private func read() throws(IdentityKeyError) -> [UInt8]? {
        let key: [UInt8]
        do throws(Errno) {
            // Nonblocking, in case the file is a pipe.
            let file = try FileDescriptor.open(path, [.readOnly, .nonBlocking])
            key = try file.readToEnd(bytesMax: KeyedDigest.keyLength)
        } catch .noSuchFile {
            return nil
        } catch .fileTooLarge {
            throw IdentityKeyError(path: path, fault: .length)
        } catch {
            throw IdentityKeyError(path: path, fault: .unreadable(error))
        }
        guard key.count == KeyedDigest.keyLength else {
            throw IdentityKeyError(path: path, fault: .length)
        }
        return key
    }

    /// Writes a new key to a temporary file and renames it after syncing, so that a crash never
    /// leaves a partial key. Returns `nil` if the file exists by now; it is kept.
    private func make() throws(Errno) -> [UInt8]? {
        let (directory, name) = place
        let folder = try FileDescriptor.open(directory, .directory)
        let draft = name + Self.draftSuffix
        // Not truncated, because another coordinator may be about to rename it. A leftover of a
        // crash is at most as long as a key and is overwritten.
        let file = try folder.open(draft, [.writeOnly, .create, .noFollow], mode: 0o600)
        // Only the holder of the lock renames, so an existing key is never replaced.
        try file.lock(.exclusive)
        guard try Self.isFree(name, in: folder) else {
            try? folder.unlink(draft)
            return nil
        }
        let key = Random.bytes(count: KeyedDigest.keyLength)
        try file.writeAll(key)
        guard try file.status().size == key.count else { throw .fileTooLarge }
        try file.synchronize()
        try folder.rename(draft, to: name)
        // Not supported by every file system; in the worst case the next start creates another key.
        try? folder.synchronize()
        // The lock is held until here.
        try? file.unlock()
        return key
    }

    private var place: (directory: String, name: String) {
        guard let cut = path.lastIndex(of: "/") else { return (".", path) }
        return (
            cut == path.startIndex ? "/" : String(path[..<cut]),
            String(path[path.index(after: cut)...])
        )
    }

    /// Returns whether the name is unused; a dangling link counts as used.
    private static func isFree(
        _ name: String, in folder: borrowing FileDescriptor
    ) throws(Errno) -> Bool {
        do throws(Errno) {
            _ = try folder.status(of: name)
            return false
        } catch .noSuchFile {
            return true
        }
    }

    /// The suffix of the temporary file.
    static let draftSuffix = ".new"
}

/// The error that the key file can't be used; states what to do.
struct IdentityKeyError: Error, Hashable, CustomStringConvertible {
    /// The cause.
    enum Problem: Hashable {
        /// Its length differs from that of a key.
        case length
        /// It exists but can't be read.
        case unreadable(Errno)
        /// It is a dangling link.
        case deadLink
        /// It doesn't exist and can't be created.
        case notCreated(Errno)
    }

    let path: String
    let fault: Problem

    var description: String { "\(path), the key for the identities of users, \(reason)" }

    private var reason: String {
        switch fault {
        case .length:
            "does not have \(KeyedDigest.keyLength) bytes: restore it, or remove it to create a "
                + "new one; entries cached for users are then loaded again"
        case .unreadable(let errno):
            "cannot be read (\(errno)): grant user \(CurrentProcess.userID) read permission, or "
                + "specify another file (IMAGEBUS_SECRET_FILE)"
        case .deadLink:
            "is a dangling link: restore the file, or remove the link to create a new one"
        case .notCreated(let errno):
            "cannot be created (\(errno)): create its directory and let user "
                + "\(CurrentProcess.userID) create and rename \(path)"
                + "\(IdentityKeyFile.draftSuffix), or specify another file "
                + "(IMAGEBUS_SECRET_FILE)"
        }
    }
}

extension Resolution {
    /// Whether it, or one of its overlays, contains values of secret files, so that it may change
    /// without a reload.
    var hasSecrets: Bool {
        hasOwnSecrets || terms.overlays.contains(where: \.hasOwnSecrets)
    }

    private var hasOwnSecrets: Bool {
        !secretHeaders.isEmpty || !terms.transfer.secrets.isEmpty
    }
}

extension LoadTerms {
    /// Sets the identities of overlay requests: none, unless a rule adds credentials.
    mutating func identifyOverlays(by identity: (Resolution) -> String?) {
        for index in overlays.indices {
            overlays[index].terms.identity = identity(overlays[index])
        }
    }
}
