/// What the operator's rules say of a transfer besides its URL and headers (SEMANTICS §10.13): in
/// no key of a cache, but for its secrets, which are part of the identity, and for TLS that is not
/// verified.
///
/// It holds secrets: it stands in no log, no error and no status.
public struct TransferTerms: Hashable, Sendable {
    /// Names of headers that are not sent, those that the loader would add by itself as well.
    public var removedHeaders: [String] = []
    /// Names of headers without which nothing is asked.
    public var requiredHeaders: [String] = []
    /// What is changed in the head of the answer.
    public var response = ResponseChange()
    /// What is undone of the body, in this order.
    public var decryptors: [Decryptor] = []
    /// Who asks.
    public var credential: TransferCredential?
    /// What is shown to an origin behind TLS.
    public var certificate: ClientCertificate?
    /// The cookie jar; no two identities share one.
    public var cookieJar: String?
    /// Names of headers, in lower case, whose values are secrets of the configuration, though their
    /// names are not those of credentials (`HTTPHeader.isCredential`): no other origin gets them.
    public var secretHeaders: [String] = []
    /// Whether the certificate of the origin is not verified (SEMANTICS §10.22).
    public var isUnverified = false

    /// Says nothing.
    public init() {}

    /// Whether nothing is said.
    public var isEmpty: Bool { self == TransferTerms() }

    /// Bytes of all texts at most: with everything around them they fit a message to a worker.
    public static let bytesMax = 3 * 1024
    /// Names in each list, headers and statuses at most.
    public static let countMax = 16
    /// Bytes of each text at most.
    public static let textBytesMax = 1024

    /// Bytes of all texts but the URL.
    public var byteCount: Int {
        let headers = response.headers.flatMap { [$0.name, $0.value] }
        let texts =
            removedHeaders + requiredHeaders + secretHeaders + response.removedHeaders
            + headers + secrets
        return texts.reduce(0) { $0 + $1.utf8.count }
    }

    /// Texts that say who asks, or with which key; empty: nothing of it is a secret. What they say
    /// keeps entries and work of others apart (SEMANTICS §4.6).
    public var secrets: [String] {
        var texts: [String] = []
        if let credential {
            texts += ["credential", credential.method.rawValue, credential.user]
            texts.append(credential.password)
        }
        if let certificate { texts += ["certificate", certificate.path, certificate.keyPath] }
        if let cookieJar { texts += ["cookies", cookieJar] }
        for case .aes256GCM(let key) in decryptors { texts += ["key", key.hex] }
        return texts
    }
}

/// What rules change in the head of an answer, before its status and type are looked at.
public struct ResponseChange: Hashable, Sendable {
    /// Statuses, and what is put in their place.
    public var statuses: [Int: Int] = [:]
    /// What is put in the place of each other status; `nil`: it stays.
    public var everyStatus: Int?
    /// Headers; those of the same name are replaced.
    public var headers: [HTTPHeader] = []
    /// Names of headers that are taken out.
    public var removedHeaders: [String] = []

    /// Nothing.
    public init() {}

    /// Whether nothing is changed.
    public var isEmpty: Bool { self == ResponseChange() }

    /// What becomes of a status.
    public func status(_ status: Int) -> Int { statuses[status] ?? everyStatus ?? status }
}

/// Who asks an origin that wants a name and a password.
public struct TransferCredential: Hashable, Sendable {
    /// How they are told (RFC 7617, RFC 7616).
    public enum Method: String, Hashable, Sendable, CaseIterable {
        /// As they are, with the first request.
        case basic
        /// As a digest, once the origin has asked for that.
        case digest
    }

    /// How they are told.
    public var method: Method
    /// The name.
    public var user: String
    /// A secret.
    public var password: String

    /// Of somebody.
    public init(_ method: Method, user: String, password: String) {
        (self.method, self.user, self.password) = (method, user, password)
    }
}

/// A client certificate: files in PEM that the download worker reads.
public struct ClientCertificate: Hashable, Sendable {
    /// The certificate, with those that it needs behind it.
    public var path: String
    /// Its private key, without a password.
    public var keyPath: String

    /// Of two files.
    public init(path: String, keyPath: String) { (self.path, self.keyPath) = (path, keyPath) }
}
