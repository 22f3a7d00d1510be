import Model
import YAML

extension ValueReader where Value == [Rule] {
    static let rules = list(of: .rule)
}

extension ValueReader where Value == Rule {
    static let rule = ValueReader { node, name, reading in
        // A placeholder that matches every rule until `match` is read; a rule without it is
        // rejected.
        guard let anything = URLPattern("*") else { return nil }
        var rule = Rule(anything)
        KeyTable.rule.read(node, "a rule", into: &rule, &reading)
        if case .map = node.content, !node.has("match") {
            reading.report(
                node.line,
                "'match' is missing in a rule: specify a pattern such as match: https://…")
        }
        if rule.transfer.verifiesTLS == false { check(unverified: rule, node.line, &reading) }
        return rule
    }

    /// Checks that unverified TLS is limited to named hosts and not combined with secrets.
    private static func check(unverified rule: Rule, _ line: Int, _ reading: inout Reading) {
        if rule.pattern.secureHost == nil {
            reading.report(
                line,
                "tls-verify: 'match' must name one https host without *, such as https://nas.lan/*")
        }
        let hasSecrets = rule.headers.contains { header in
            if case .file = header.value { return true }
            return HTTPHeader(name: header.name, value: "").isCredential
        }
        if hasSecrets || rule.transfer.hasCredentials {
            reading.report(
                line,
                "tls-verify: 'no' cannot be combined with credentials, which are sent only to "
                    + "verified hosts: remove the credentials, or 'tls-verify'")
        }
    }
}

/// The options that a profile sets and those that it clears.
struct OptionChange {
    var sets: RequestOptions = []
    var clears: RequestOptions = []
}

extension ValueReader where Value == OptionChange {
    static let options = ValueReader { node, name, reading in
        var change = OptionChange()
        if !node.isEmpty { KeyTable.options.read(node, name, into: &change, &reading) }
        // Such an option is also rejected in a request.
        if let option = change.sets.intersection(.notSupported).names.first {
            reading.report(node.line, "\(name): this version does not support \(option)")
        }
        return change
    }
}

extension KeyTable where Target == OptionChange {
    fileprivate static let options = KeyTable(
        RequestOptions.names.map { name, option in
            Row(name, ValueReader<Bool>.bool) { change, isSet in
                if isSet { change.sets.insert(option) } else { change.clears.insert(option) }
            }
        })
}

extension ValueReader where Value == [ContextSetting] {
    /// Context options that a request can also set, except for its profile.
    static let context = map(
        KeyTable(
            ContextKey.allCases.map { key in
                KeyTable.Row(name: key.rawValue) { node, settings, reading in
                    guard let setting = setting(key, node, &reading) else { return }
                    settings.append(setting)
                }
            }), { [] })

    private static func setting(
        _ key: ContextKey, _ node: YAMLNode, _ reading: inout Reading
    ) -> ContextSetting? {
        guard case .scalar(let text) = node.content else {
            return reading.refuse(node.line, "\(key.rawValue): expected a single value")
        }
        if ContextKey.notSupported.contains(key) {
            return reading.refuse(node.line, "\(key.rawValue): not supported by this version")
        }
        if key == .customManager {
            return reading.refuse(node.line, "\(key.rawValue): a rule cannot select a profile")
        }
        do throws(ContextSettingError) {
            let setting = try ContextSetting(key, text)
            refer(to: setting, node, &reading)
            return setting
        } catch {
            return reading.refuse(node.line, "\(key.rawValue): \(error.reason)")
        }
    }

    private static func refer(
        to setting: ContextSetting, _ node: YAMLNode, _ reading: inout Reading
    ) {
        let kinds: [ContextKey: Reading.Kind] = [
            .imageCache: .cache, .originalImageCache: .cache, .imageLoader: .loader,
            .imageCoder: .coder, .imageTransformer: .preset, .cacheKeyFilter: .keyFilter,
            .cacheSerializer: .serializer,
        ]
        // A filter that begins with `text:` is itself a key, not the name of one.
        let isKey = setting.key == .cacheKeyFilter && setting.text.hasPrefix("text:")
        guard let kind = kinds[setting.key], !isKey, !["none", "as-is"].contains(setting.text)
        else { return }
        reading.refer(to: setting.text, kind, line: node.line)
    }
}

extension ValueReader where Value == [BlockCause: Bool] {
    /// Entries by HTTP status, or by error name in kebab-case.
    static let blocks = ValueReader { node, name, reading in
        guard
            let entries = reading.entries(
                node, name, "a map of HTTP statuses and error names, such as '404: yes'")
        else { return nil }
        var blocks: [BlockCause: Bool] = [:]
        for entry in entries {
            guard let cause = cause(entry.key) else {
                let hint = SpellingSuggestion.hint(entry.key, errors.keys.sorted())
                reading.report(
                    entry.line,
                    "\(name): '\(entry.key)' is neither an HTTP status nor an error name\(hint)")
                continue
            }
            blocks[cause] = ValueReader<Bool>.bool.read(entry.value, entry.key, &reading)
        }
        return blocks
    }

    private static func cause(_ word: String) -> BlockCause? {
        if let status = PlainNumber.integer(word) {
            return (100...599).contains(status) ? .httpStatus(status) : nil
        }
        return errors[word].map { .error($0) }
    }

    private static let errors: [String: ErrorCode] = Dictionary(
        uniqueKeysWithValues: ErrorCode.allCases.map { (kebab($0.rule.name), $0) })

    /// Converts `badImageData` to `bad-image-data` and `invalidURL` to `invalid-url`.
    private static func kebab(_ name: String) -> String {
        var text = ""
        var wasUpper = true
        for character in name {
            if character.isUppercase, !wasUpper { text += "-" }
            text += character.lowercased()
            wasUpper = character.isUppercase
        }
        return text
    }
}

extension ValueReader where Value == [URLPattern] {
    /// URL patterns for redirects, limited to what fits into a fetch job.
    static let sources = ValueReader { node, name, reading in
        guard let patterns = list(of: .pattern).read(node, name, &reading) else { return nil }
        let bytes = patterns.reduce(0) { $0 + $1.text.utf8.count }
        guard patterns.count <= MessageLimits.sourcesMax, bytes <= MessageLimits.sourcesBytesMax
        else {
            return reading.refuse(
                node.line,
                "\(name): at most \(MessageLimits.sourcesMax) patterns with a total of "
                    + "\(MessageLimits.sourcesBytesMax) bytes are accepted")
        }
        return patterns
    }
}

extension ValueReader where Value == [RuleHeader] {
    /// Header names with a text, or with `{file: PATH}`.
    static let headers = ValueReader { node, name, reading in
        guard let entries = reading.entries(node, name, "a map of header names and values") else {
            return nil
        }
        guard entries.count <= RequestLimits.headersMax else {
            return reading.refuse(
                node.line, "\(name): at most \(RequestLimits.headersMax) headers are accepted")
        }
        return entries.compactMap { entry in
            guard HTTPHeader(name: entry.key, value: "").isValid else {
                reading.report(entry.line, "\(name): '\(entry.key)' is not a valid header name")
                return nil
            }
            if let reason = HTTPHeader(name: entry.key, value: "").refusal {
                reading.report(entry.line, "\(name): \(entry.key): \(reason)")
                return nil
            }
            return value(of: entry.value, entry.key, &reading)
                .map { RuleHeader(name: entry.key, value: $0) }
        }
    }

    private static func value(
        of node: YAMLNode, _ name: String, _ reading: inout Reading
    ) -> RuleHeader.Value? {
        guard case .map = node.content else {
            return ValueReader<String>.scalar(
                "a single line of text, or {file: PATH}", isShown: false
            ) {
                HTTPHeader(name: "a", value: $0).isValid ? $0 : nil
            }.read(node, name, &reading).map { .text($0) }
        }
        guard HTTPHeader(name: name, value: "").isCredential else {
            reading.report(
                node.line,
                "\(name): this header is sent along redirects to other hosts and must not be secret"
            )
            return nil
        }
        var path: String?
        KeyTable<String?>([.init("file", ValueReader<String>.secretPath) { $0 = $1 }])
            .read(node, name, into: &path, &reading)
        return path.map { .file($0) }
    }
}

// Rules that change requests and responses (SEMANTICS §10.13, §10.14).

extension KeyTable where Target == TransferRule {
    static let request = KeyTable([
        Row("rewrite", .map(.rewrite, URLRewrite.init), \.rewrite),
        Row("remove-headers", .headerNames, \.removedHeaders),
        Row("require-headers", .headerNames, \.requiredHeaders),
    ])
}

extension KeyTable where Target == URLRewrite {
    static let rewrite = KeyTable([
        Row("scheme", .word([("http", "http"), ("https", "https")]), \.scheme),
        Row("host", .host, \.host),
        Row("path-prefix", .pathPrefix, \.pathPrefix),
        Row("query", .query, \.query),
    ])
}

extension KeyTable where Target == ResponseChange {
    static let response = KeyTable([
        Row("status", .statusChanges) { ($0.statuses, $0.everyStatus) = ($1.some, $1.every) },
        Row("headers", .answerHeaders, \.headers),
        Row("remove-headers", .answerHeaderNames, \.removedHeaders),
    ])
}

/// Replacements for HTTP status codes.
struct StatusChanges {
    var some: [Int: Int] = [:]
    var every: Int?
}

extension ValueReader where Value == StatusChanges {
    /// `{404: 200}`; `any` stands for every status that isn't listed.
    static let statusChanges = ValueReader { node, name, reading in
        guard case .map(let entries) = node.content, entries.count < TransferTerms.countMax else {
            return reading.refuse(
                node.line,
                "\(name): expected a map of fewer than \(TransferTerms.countMax) statuses, such as "
                    + "{404: 200}")
        }
        var changes = StatusChanges()
        let reader = ValueReader<Int>.number(in: 200...599, "a status")
        for entry in entries {
            let status = reader.read(entry.value, entry.key, &reading)
            if entry.key == "any" {
                changes.every = status
            } else if let from = PlainNumber.integer(entry.key), (200...599).contains(from) {
                changes.some[from] = status
            } else {
                reading.report(entry.line, "\(name): '\(entry.key.prefix(64))' is not a status")
            }
        }
        return changes
    }
}

extension ValueReader where Value == String {
    /// Printable ASCII that starts with `/` and has no query.
    fileprivate static let pathPrefix = scalar("a path such as /images", isShown: false) { text in
        let isPath = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"?#".utf8.contains($0) }
        return text.hasPrefix("/") && isPath && text.utf8.count <= 512 ? text : nil
    }

    fileprivate static let query = scalar("a query without its '?'", isShown: false) { text in
        let isQuery = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") }
        return isQuery && text.utf8.count <= 512 ? text : nil
    }

    /// The name of a header that requests may set.
    fileprivate static let headerName = scalar(
        "the name of a header that the loader does not set itself"
    ) { text in
        let header = HTTPHeader(name: text, value: "")
        return header.isValid && header.refusal == nil && isShort(text) ? text : nil
    }

    /// The name of a response header that affects neither the framing nor the type of the body.
    fileprivate static let answerHeaderName = scalar(
        "the name of a header that does not control message framing"
    ) { isOfAnswer($0) ? $0 : nil }

    fileprivate static let filePath = scalar("an absolute path", isShown: false) {
        $0.hasPrefix("/") && !$0.utf8.contains(0) && $0.utf8.count <= TransferTerms.textBytesMax
            ? $0 : nil
    }

    fileprivate static let userName = scalar("a name without ':'", isShown: false) { text in
        let isName = text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: ":") }
        return !text.isEmpty && isName && text.utf8.count <= RequestLimits.nameBytesMax
            ? text : nil
    }

    fileprivate static func isOfAnswer(_ text: String) -> Bool {
        HTTPHeader(name: text, value: "").isValid && isShort(text)
            && !framing.contains(text.lowercased())
    }

    private static func isShort(_ text: String) -> Bool {
        text.utf8.count <= RequestLimits.nameBytesMax
    }

    private static let framing: Set<String> = [
        "accept-ranges", "connection", "content-encoding", "content-length", "content-range",
        "location", "set-cookie", "transfer-encoding", "www-authenticate",
    ]
}

extension ValueReader where Value == [String] {
    static let headerNames = names(.headerName)
    fileprivate static let answerHeaderNames = names(.answerHeaderName)

    private static func names(_ name: ValueReader<String>) -> ValueReader {
        list(of: name, atMost: TransferTerms.countMax, "names are accepted")
    }
}

extension ValueReader where Value == [HTTPHeader] {
    /// Response header names with texts.
    fileprivate static let answerHeaders = ValueReader { node, name, reading in
        guard case .map(let entries) = node.content, entries.count <= TransferTerms.countMax else {
            return reading.refuse(
                node.line,
                "\(name): expected a map of at most \(TransferTerms.countMax) names and values")
        }
        let text = ValueReader<String>.scalar("a single line of text", isShown: false) {
            HTTPHeader(name: "a", value: $0).isValid
                && $0.utf8.count <= TransferTerms.textBytesMax ? $0 : nil
        }
        return entries.compactMap { entry in
            guard ValueReader<String>.isOfAnswer(entry.key) else {
                reading.report(
                    entry.line, "\(name): '\(entry.key.prefix(64))' cannot be set in responses")
                return nil
            }
            return text.read(entry.value, entry.key, &reading)
                .map { HTTPHeader(name: entry.key, value: $0) }
        }
    }
}

// Credentials, and keys for decrypting bodies (SEMANTICS §10.15, §10.16).

/// The fields of a credential before validation.
struct CredentialDraft {
    var user: String?
    var passwordFile: String?
    var method: TransferCredential.Method?
    var bearerFile: String?
}

extension KeyTable where Target == CredentialDraft {
    static let credential = KeyTable([
        Row("user", .userName, \.user),
        Row("password-file", .filePath, \.passwordFile),
        Row(
            "method",
            .word(TransferCredential.Method.allCases.map { ($0.rawValue, $0) }), \.method),
        Row("bearer-file", .filePath, \.bearerFile),
    ])
}

extension ValueReader where Value == RuleCredential {
    /// `{user: NAME, password-file: PATH, method: basic|digest}`, or `{bearer-file: PATH}`.
    static let credential = ValueReader { node, name, reading in
        var draft = CredentialDraft()
        KeyTable.credential.read(node, name, into: &draft, &reading)
        switch (draft.user, draft.passwordFile, draft.bearerFile) {
        case (let user?, let file?, nil):
            return .password(draft.method ?? .basic, user: user, file: file)
        case (nil, nil, let file?) where draft.method == nil: return .bearer(file: file)
        default:
            return reading.refuse(
                node.line, "\(name): specify user and password-file, or only bearer-file")
        }
    }
}

extension ValueReader where Value == ClientCertificate {
    /// `{certificate: PATH, key: PATH}`.
    static let certificate = ValueReader { node, name, reading in
        var certificate = ClientCertificate(path: "", keyPath: "")
        KeyTable<ClientCertificate>([
            .init("certificate", .filePath, \.path), .init("key", .filePath, \.keyPath),
        ]).read(node, name, into: &certificate, &reading)
        guard !certificate.path.isEmpty, !certificate.keyPath.isEmpty else {
            return reading.refuse(node.line, "\(name): specify certificate and key, two PEM files")
        }
        return certificate
    }
}

extension ValueReader where Value == [RuleDecryptor] {
    static let decryptors = list(
        of: .decryptor, atMost: Decryptor.countMax, "decryptors can be chained")
}

extension ValueReader where Value == RuleDecryptor {
    /// `gzip`, `base64`, or `{aes-256-gcm: PATH}`.
    fileprivate static let decryptor = ValueReader { node, name, reading in
        guard case .map = node.content else {
            return word([("gzip", .gzip), ("base64", .base64)]).read(node, name, &reading)
        }
        var path: String?
        KeyTable<String?>([
            .init("aes-256-gcm", ValueReader<String>.filePath) { $0 = $1 }
        ]).read(node, name, into: &path, &reading)
        return path.map { .aes256GCM(keyFile: $0) }
    }
}
