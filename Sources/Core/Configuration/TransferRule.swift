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

// What rules say of transfers, with the secrets filled in.
extension Configuration {
    /// Throws `invalidRequest` for a rewrite that makes no URL, `sourceForbidden` for one that
    /// leads out of the sources, and `invalidDownloadOperation` where a secret is missing.
    func addTransfer(
        _ rule: TransferRule, _ url: SourceURL, to resolution: inout Resolution
    ) throws(ImageError) {
        var transfer = TransferTerms()
        if let rewrite = rule.rewrite {
            resolution.terms.askedURL = try rewritten(url, resolution.request.url, by: rewrite)
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
            && Self.isSameOrigin(resolution.terms.askedURL, resolution.request.url)
        try add(rule.credential, url, &transfer, to: &resolution)
        resolution.terms.transfer = transfer
        let removed = Set(transfer.removedHeaders.map { $0.lowercased() })
        guard !removed.isEmpty else { return }
        resolution.request.headers.removeAll { removed.contains($0.name.lowercased()) }
        resolution.secretHeaders.subtract(removed)
    }

    /// Whether a rewritten URL is still of the host that the rule names.
    private static func isSameOrigin(_ asked: String?, _ url: String) -> Bool {
        guard let asked else { return true }
        guard let (new, old) = try? (SourceURL(asked), SourceURL(url)) else { return false }
        return new.hasSameOrigin(as: old)
    }

    /// Throws `invalidDownloadOperation` where credentials would be sent to an origin whose
    /// certificate is not verified: anyone on the network path could read them.
    func checkUnverified(_ resolution: borrowing Resolution) throws(ImageError) {
        let transfer = resolution.terms.transfer
        guard transfer.isUnverified else { return }
        let asked = try SourceURL(resolution.terms.askedURL ?? resolution.request.url)
        guard resolution.terms.loader == .http else {
            throw ImageError(
                .invalidDownloadOperation,
                "tls-verify: no works with the built-in http loader only: take this URL out of the "
                    + "other loader, or the key out of the rule")
        }
        guard
            transfer.secrets.isEmpty && resolution.secretHeaders.isEmpty && asked.userInfo == nil
                && !resolution.request.headers.contains(where: \.isCredential)
        else {
            throw ImageError(
                .invalidDownloadOperation,
                "a rule of the configuration turns TLS verification off for this URL (tls-verify: "
                    + "no), and no credentials are sent then: leave them out, or name the "
                    + "authority of the origin with --ca-file and take the key out of the rule")
        }
    }

    /// Says which headers have secrets of rules as values, whatever their names are. Those that are
    /// credentials by their names are known without it. Throws `invalidDownloadOperation` where
    /// rules say too much.
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
                "the rules of the configuration say more of this transfer than "
                    + "\(TransferTerms.bytesMax) bytes: shorten them, or their secrets")
        }
    }

    /// The rewritten URL has to be one of the sources, as a redirect has.
    private func rewritten(
        _ url: SourceURL, _ asked: String, by rewrite: URLRewrite
    ) throws(ImageError) -> String {
        let (source, target): (SourceURL, String)
        do throws(ImageError) {
            (source, target) = try rewrite.apply(to: SourceURL(asked))
        } catch {
            throw ImageError(
                .invalidRequest,
                "'rewrite' of the configuration makes no URL of this one: \(error.message)")
        }
        guard let sources, !URLPattern.permits(source, sources) else { return target }
        throw ImageError(
            .sourceForbidden,
            "'rewrite' of the configuration leads to a URL that its sources do not have: an "
                + "operator adds it to 'sources' in the file of serve --config")
    }

    private func decryptorWithKey(_ rule: RuleDecryptor) throws(ImageError) -> Decryptor {
        switch rule {
        case .gzip: return .gzip
        case .base64: return .base64
        case .aes256GCM(let path):
            guard let key = Decryptor.key(ofHex: try secret(path)) else {
                throw ImageError(
                    .invalidDownloadOperation,
                    "\(path) has no key of AES-256: write \(2 * Decryptor.keyBytes) digits in hex")
            }
            return .aes256GCM(key: key)
        }
    }

    /// It takes the place of the user info, and of what the request says of who asks.
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
        let asked = try SourceURL(resolution.terms.askedURL ?? resolution.request.url)
        if asked.userInfo != nil { resolution.terms.askedURL = asked.withoutUserInfo }
    }
}
