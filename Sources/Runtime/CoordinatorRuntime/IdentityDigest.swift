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

/// The key of an installation, in a file of its own: made where it is missing, whole or not at all.
struct IdentityKeyFile {
    let path: String

    /// Reads the key; links are followed, since a key may be mounted as one. Where there is no
    /// file, makes one of mode 0600 in the directory of the path, and follows no link for that.
    func key() throws(IdentityKeyError) -> [UInt8] {
        if let key = try read() { return key }
        do throws(Errno) {
            if let key = try make() { return key }
        } catch {
            throw IdentityKeyError(path: path, fault: .notMade(error))
        }
        // Another coordinator was faster.
        guard let key = try read() else {
            throw IdentityKeyError(path: path, fault: .deadLink)
        }
        return key
    }

    /// `nil`: there is none.
    private func read() throws(IdentityKeyError) -> [UInt8]? {
        let key: [UInt8]
        do throws(Errno) {
            // A pipe is not waited for.
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

    /// Writes a new key beside the file and gives it its name once it is on the disk, so that no
    /// crash leaves a part of one. `nil`: something has that name by now, and stays.
    private func make() throws(Errno) -> [UInt8]? {
        let (directory, name) = place
        let folder = try FileDescriptor.open(directory, .directory)
        let draft = name + Self.draftSuffix
        // Not emptied: it may be what another coordinator is about to rename. What a crash has
        // left of one is as long as a key at most, and is written over.
        let file = try folder.open(draft, [.writeOnly, .create, .noFollow], mode: 0o600)
        // Who holds it alone may give the name, so nothing is ever replaced.
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
        // Not every file system can: at worst the next start makes another key.
        try? folder.synchronize()
        // Held until here.
        try? file.unlock()
        return key
    }

    /// The directory, and the name in it.
    private var place: (directory: String, name: String) {
        guard let cut = path.lastIndex(of: "/") else { return (".", path) }
        return (
            cut == path.startIndex ? "/" : String(path[..<cut]),
            String(path[path.index(after: cut)...])
        )
    }

    /// A link has its name even where it leads to nothing.
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

    /// Behind the name of the file, until it is whole.
    static let draftSuffix = ".new"
}

/// The key file cannot be used; says what to do.
struct IdentityKeyError: Error, Hashable, CustomStringConvertible {
    /// What is wrong with it.
    enum Fault: Hashable {
        /// It has not as many bytes as a key.
        case length
        /// It is there, and the kernel does not let it be read.
        case unreadable(Errno)
        /// It is a link to nothing.
        case deadLink
        /// It is not there, and cannot be written.
        case notMade(Errno)
    }

    let path: String
    let fault: Fault

    var description: String { "\(path), the key by which users are told apart, \(reason)" }

    private var reason: String {
        switch fault {
        case .length:
            "has not \(KeyedDigest.keyLength) bytes: put it back, or remove it, and a new one is "
                + "made; what is cached for users is then loaded anew"
        case .unreadable(let errno):
            "cannot be read (\(errno)): user \(CurrentProcess.userID) has to be permitted to, or "
                + "another file named (IMAGEBUS_SECRET_FILE)"
        case .deadLink:
            "is a link to nothing: put the file there, or remove the link, and a new one is made"
        case .notMade(let errno):
            "cannot be made (\(errno)): its directory has to be there, and user "
                + "\(CurrentProcess.userID) to be permitted to make \(path)"
                + "\(IdentityKeyFile.draftSuffix) and to rename it, or another file named "
                + "(IMAGEBUS_SECRET_FILE)"
        }
    }
}

extension Resolution {
    /// Whether values of secret files are in it, or in what is laid over its image: it may become
    /// another one without a reload.
    var hasSecrets: Bool {
        hasOwnSecrets || terms.overlays.contains(where: \.hasOwnSecrets)
    }

    private var hasOwnSecrets: Bool {
        !secretHeaders.isEmpty || !terms.transfer.secrets.isEmpty
    }
}

extension LoadTerms {
    /// Who asks for what is laid over an image: nobody, unless a rule says so.
    mutating func identifyOverlays(by identity: (Resolution) -> String?) {
        for index in overlays.indices {
            overlays[index].terms.identity = identity(overlays[index])
        }
    }
}
