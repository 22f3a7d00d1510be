import Configuration
import ImageModel
import YAML

// Who asks, and with which keys bodies are decrypted (SEMANTICS §10.15, §10.16).

/// What is said of a credential, until it is known to be whole.
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
            reading.object(
                node.line, "\(name): say user and password-file, or bearer-file alone")
            return nil
        }
    }
}

extension KeyTable where Target == ClientCertificate {
    static let certificate = KeyTable([
        Row("certificate", .filePath, \.path), Row("key", .filePath, \.keyPath),
    ])
}

extension ValueReader where Value == ClientCertificate {
    /// `{certificate: PATH, key: PATH}`.
    static let certificate = ValueReader { node, name, reading in
        var certificate = ClientCertificate(path: "", keyPath: "")
        KeyTable.certificate.read(node, name, into: &certificate, &reading)
        guard !certificate.path.isEmpty, !certificate.keyPath.isEmpty else {
            reading.object(node.line, "\(name): say certificate and key, two files in PEM")
            return nil
        }
        return certificate
    }
}

extension ValueReader where Value == [RuleDecryptor] {
    static let decryptors = ValueReader { node, name, reading in
        guard let all = list(of: .decryptor).read(node, name, &reading) else { return nil }
        guard all.count <= Decryptor.countMax else {
            reading.object(node.line, "\(name): at most \(Decryptor.countMax), one after another")
            return nil
        }
        return all
    }
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

extension ValueReader where Value == String {
    fileprivate static let filePath = scalar("an absolute path", isShown: false) {
        $0.hasPrefix("/") && !$0.utf8.contains(0) && $0.utf8.count <= TransferTerms.textBytesMax
            ? $0 : nil
    }

    fileprivate static let userName = scalar("a name without ':'", isShown: false) { text in
        let isName = text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: ":") }
        return !text.isEmpty && isName && text.utf8.count <= RequestLimits.nameBytesMax
            ? text : nil
    }
}
