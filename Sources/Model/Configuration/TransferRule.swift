/// Transfer settings of a rule (SEMANTICS §10.13 to §10.16). Secrets are given as file paths. Each
/// setting of a later rule replaces the same setting of an earlier rule.
public struct TransferRule: Hashable, Sendable {
    /// How to rewrite the URL.
    public var rewrite: URLRewrite?
    /// Names of headers to remove from the request.
    public var removedHeaders: [String]?
    /// Names of headers without which no request is sent.
    public var requiredHeaders: [String]?
    /// Changes to responses.
    public var response: ResponseChange?
    /// Transformations to reverse on bodies, such as encryption.
    public var decryptors: [RuleDecryptor]?
    /// Credentials for the origin.
    public var credential: RuleCredential?
    /// The TLS client certificate.
    public var certificate: ClientCertificate?
    /// The name of the cookie jar.
    public var cookieJar: String?
    /// Whether to verify the origin's certificate; `nil` means yes.
    public var verifiesTLS: Bool?

    /// Creates a rule without any settings.
    public init() {}

    /// Whether the rule sends credentials of any kind.
    public var hasCredentials: Bool { credential != nil || certificate != nil || cookieJar != nil }

    /// Paths of the secret files whose contents are needed.
    var secretFiles: [String] {
        let keys = (decryptors ?? []).compactMap { decryptor in
            if case .aes256GCM(let path) = decryptor { path } else { nil }
        }
        return keys + (credential.map { [$0.path] } ?? [])
    }

    /// Merges a later rule, whose settings take precedence.
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

/// A decryptor whose key is stored in a file.
public enum RuleDecryptor: Hashable, Sendable {
    /// AES-256-GCM; the file contains the key as 64 hexadecimal digits.
    case aes256GCM(keyFile: String)
    /// Gzip; needs no key.
    case gzip
    /// Base64; needs no key.
    case base64
}

/// Credentials whose secret is stored in a file.
public enum RuleCredential: Hashable, Sendable {
    /// A user name and the file that contains the password.
    case password(TransferCredential.Method, user: String, file: String)
    /// The file that contains a bearer token (RFC 6750).
    case bearer(file: String)

    /// The path of the secret file.
    var path: String {
        switch self {
        case .password(_, _, let path), .bearer(let path): path
        }
    }
}

// Transfer settings of rules, with secrets filled in.
extension Configuration {
    /// Applies the transfer settings of rules to a resolution. Throws `invalidRequest` if a rewrite
    /// results in an invalid URL, `sourceForbidden` if it leads outside the allowed sources, and
    /// `invalidDownloadOperation` if a secret is missing.
    func addTransfer(
        _ rule: TransferRule, _ url: SourceURL, to resolution: inout Resolution
    ) throws(ImageError) {
        var transfer = TransferTerms()
        if let rewrite = rule.rewrite {
            resolution.terms.urlToFetch = try rewritten(url, resolution.request.url, by: rewrite)
        }
        transfer.removedHeaders = rule.removedHeaders ?? []
        transfer.requiredHeaders = rule.requiredHeaders ?? []
        transfer.response = rule.response ?? ResponseChange()
        for decryptor in rule.decryptors ?? [] {
            transfer.decryptors.append(try decryptorWithKey(decryptor))
        }
        transfer.certificate = rule.certificate
        transfer.cookieJar = rule.cookieJar
        transfer.isUnverified =
            rule.verifiesTLS == false
            && Self.isSameOrigin(resolution.terms.urlToFetch, resolution.request.url)
        try add(rule.credential, url, &transfer, to: &resolution)
        resolution.terms.transfer = transfer
        let removed = Set(transfer.removedHeaders.map { $0.lowercased() })
        guard !removed.isEmpty else { return }
        resolution.request.headers.removeAll { removed.contains($0.name.lowercased()) }
        resolution.secretHeaders.subtract(removed)
    }

    /// Whether a rewritten URL still has the origin that the rule matches.
    private static func isSameOrigin(_ asked: String?, _ url: String) -> Bool {
        guard let asked else { return true }
        guard let (new, old) = try? (SourceURL(asked), SourceURL(url)) else { return false }
        return new.hasSameOrigin(as: old)
    }

    /// Throws `invalidDownloadOperation` if credentials would be sent to an origin whose
    /// certificate is not verified: anyone on the network path could read them.
    func checkUnverified(_ resolution: borrowing Resolution) throws(ImageError) {
        let transfer = resolution.terms.transfer
        guard transfer.isUnverified else { return }
        let asked = try SourceURL(resolution.terms.urlToFetch ?? resolution.request.url)
        guard resolution.terms.loader == .http else {
            throw ImageError(
                .invalidDownloadOperation,
                "this URL is loaded by another loader, but 'tls-verify: no' requires the built-in "
                    + "http loader: change the match of that loader, or remove 'tls-verify' from "
                    + "the rule")
        }
        guard
            transfer.secrets.isEmpty && resolution.secretHeaders.isEmpty && asked.userInfo == nil
                && !resolution.request.headers.contains(where: \.isCredential)
        else {
            throw ImageError(
                .invalidDownloadOperation,
                "credentials are not sent to this URL because a configuration rule disables TLS "
                    + "verification (tls-verify: no): leave the credentials out, or pass the CA of "
                    + "the origin with --ca-file and remove the key from the rule")
        }
    }

    /// Marks the headers whose values are secrets from rules, whatever their names are. Headers
    /// with well-known credential names are recognized without it. Throws
    /// `invalidDownloadOperation` if the transfer settings exceed their size limit.
    func addSecretHeaders(to resolution: inout Resolution) throws(ImageError) {
        guard !resolution.secretHeaders.isEmpty || !resolution.terms.transfer.isEmpty else {
            return
        }
        resolution.terms.transfer.secretHeaders = resolution.request.headers
            .filter { !$0.isCredential }.map { $0.name.lowercased() }
            .filter { resolution.secretHeaders.contains($0) }.sorted()
        guard resolution.terms.transfer.byteCount <= TransferTerms.bytesMax else {
            throw ImageError(
                .invalidDownloadOperation,
                "the configuration rules for this transfer exceed "
                    + "\(TransferTerms.bytesMax) bytes: shorten them or their secrets")
        }
    }

    /// A rewritten URL must be an allowed source, like the target of a redirect.
    private func rewritten(
        _ url: SourceURL, _ asked: String, by rewrite: URLRewrite
    ) throws(ImageError) -> String {
        let (source, target): (SourceURL, String)
        do throws(ImageError) {
            (source, target) = try rewrite.apply(to: SourceURL(asked))
        } catch {
            throw ImageError(
                .invalidRequest,
                "'rewrite' in the configuration produces an invalid URL: \(error.message)")
        }
        guard let sources, !URLPattern.permits(source, sources) else { return target }
        throw ImageError(
            .sourceForbidden,
            "'rewrite' produces a URL that the configuration does not allow as a source: add it to "
                + "'sources' in the configuration (serve --config)")
    }

    private func decryptorWithKey(_ rule: RuleDecryptor) throws(ImageError) -> Decryptor {
        switch rule {
        case .gzip: return .gzip
        case .base64: return .base64
        case .aes256GCM(let path):
            guard let key = Decryptor.key(ofHex: try secret(path)) else {
                throw ImageError(
                    .invalidDownloadOperation,
                    "\(path) has no AES-256 key: write \(2 * Decryptor.keyBytes) hexadecimal digits"
                )
            }
            return .aes256GCM(key: key)
        }
    }

    /// Adds a rule's credentials. They replace the user info of the URL and the request's own
    /// `Authorization` header.
    private func add(
        _ rule: RuleCredential?, _ url: SourceURL, _ transfer: inout TransferTerms,
        to resolution: inout Resolution
    ) throws(ImageError) {
        guard let rule else { return }
        resolution.request.headers.removeAll { $0.name.lowercased() == "authorization" }
        switch rule {
        case .password(let method, let user, let path):
            transfer.credential = TransferCredential(
                method, user: user, password: try secret(path))
            resolution.secretHeaders.remove("authorization")
        case .bearer(let path):
            resolution.request.headers.append(
                HTTPHeader(name: "Authorization", value: "Bearer " + (try secret(path))))
            resolution.secretHeaders.insert("authorization")
        }
        let asked = try SourceURL(resolution.terms.urlToFetch ?? resolution.request.url)
        if asked.userInfo != nil { resolution.terms.urlToFetch = asked.withoutUserInfo }
    }
}
