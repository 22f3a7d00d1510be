public import ImageModel

/// What a rule says of transfers (SEMANTICS §10.13 to §10.16); secrets are paths of files. Each
/// part that a later rule says takes the place of the same part of an earlier one.
public struct TransferRule: Hashable, Sendable {
    /// What takes the place of parts of the URL.
    public var rewrite: URLRewrite?
    /// Names of headers that are not sent.
    public var removedHeaders: [String]?
    /// Names of headers without which nothing is asked.
    public var requiredHeaders: [String]?
    /// What is changed in answers.
    public var response: ResponseChange?
    /// What is undone of bodies.
    public var decryptors: [RuleDecryptor]?
    /// Who asks.
    public var credential: RuleCredential?
    /// What is shown to origins behind TLS.
    public var certificate: ClientCertificate?
    /// The cookie jar.
    public var cookieJar: String?
    /// Whether the certificate of the origin is verified; `nil`: it is.
    public var verifiesTLS: Bool?

    /// Says nothing.
    public init() {}

    /// Whether it says who asks.
    public var hasCredentials: Bool { credential != nil || certificate != nil || cookieJar != nil }

    /// Files of which values are needed.
    var secretFiles: [String] {
        let keys = (decryptors ?? []).compactMap { decryptor in
            if case .aes256GCM(let path) = decryptor { path } else { nil }
        }
        return keys + (credential.map { [$0.path] } ?? [])
    }

    /// What a later rule says wins.
    public mutating func merge(_ later: TransferRule) {
        rewrite = later.rewrite ?? rewrite
        removedHeaders = later.removedHeaders ?? removedHeaders
        requiredHeaders = later.requiredHeaders ?? requiredHeaders
        response = later.response ?? response
        decryptors = later.decryptors ?? decryptors
        credential = later.credential ?? credential
        certificate = later.certificate ?? certificate
        cookieJar = later.cookieJar ?? cookieJar
        verifiesTLS = later.verifiesTLS ?? verifiesTLS
    }
}

/// A decryptor whose key is in a file.
public enum RuleDecryptor: Hashable, Sendable {
    /// The key is 64 digits in hex, in this file.
    case aes256GCM(keyFile: String)
    /// Without a key.
    case gzip
    /// Without a key.
    case base64
}

/// Who asks, with the secret in a file.
public enum RuleCredential: Hashable, Sendable {
    /// A name, and a file with the password.
    case password(TransferCredential.Method, user: String, file: String)
    /// A file with a token (RFC 6750).
    case bearer(file: String)

    /// The file.
    var path: String {
        switch self {
        case .password(_, _, let path), .bearer(let path): path
        }
    }
}
