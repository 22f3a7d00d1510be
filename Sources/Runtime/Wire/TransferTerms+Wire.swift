import CMessages
import ImageModel

extension TransferTerms: WireMessage {
    typealias Form = Imagebus__V1__TransferTerms
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__transfer_terms__init }
    static var blank: Self { Self() }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.texts(
            &removedHeaders, &wire.pointee.n_removed_headers, &wire.pointee.removed_headers,
            "TransferTerms.removed_headers", countMax: Self.countMax, limit: Self.textBytesMax)
        try map.texts(
            &requiredHeaders, &wire.pointee.n_required_headers, &wire.pointee.required_headers,
            "TransferTerms.required_headers", countMax: Self.countMax, limit: Self.textBytesMax)
        try map.texts(
            &secretHeaders, &wire.pointee.n_secret_headers, &wire.pointee.secret_headers,
            "TransferTerms.secret_headers", countMax: Self.countMax, limit: Self.textBytesMax)
        try response.fields(map, wire)
        try map.list(
            &decryptors, &wire.pointee.n_decryptors, &wire.pointee.decryptors,
            "TransferTerms.decryptors", limit: Decryptor.countMax)
        try map.maybe(&credential, &wire.pointee.credential, "TransferTerms.credential")
        try map.maybe(&certificate, &wire.pointee.certificate, "TransferTerms.certificate")
        var jar = cookieJar ?? ""
        try map.text(
            &jar, &wire.pointee.cookie_jar, "TransferTerms.cookie_jar", limit: Self.textBytesMax)
        cookieJar = jar.isEmpty ? nil : jar
        map.flag(&isUnverified, &wire.pointee.is_unverified, "TransferTerms.is_unverified")
        guard byteCount <= Self.bytesMax else {
            throw .field("Fetch.terms", .tooLong(limit: Self.bytesMax))
        }
    }
}

extension ResponseChange {
    fileprivate mutating func fields(
        _ map: some FieldMap, _ wire: CPart<Imagebus__V1__TransferTerms>
    ) throws(WireError) {
        let limit = TransferTerms.countMax
        var changes = statuses.sorted { $0.key < $1.key }.map {
            StatusChange(from: $0.key, to: $0.value)
        }
        if let everyStatus { changes.insert(StatusChange(from: 0, to: everyStatus), at: 0) }
        try map.list(
            &changes, &wire.pointee.n_statuses, &wire.pointee.statuses, "TransferTerms.statuses",
            limit: limit)
        statuses = Dictionary(changes.map { ($0.from, $0.to) }) { first, _ in first }
        guard statuses.count == changes.count else {
            throw .field("TransferTerms.statuses", .duplicate)
        }
        everyStatus = statuses.removeValue(forKey: 0)
        try map.list(
            &headers, &wire.pointee.n_response_headers, &wire.pointee.response_headers,
            "TransferTerms.response_headers", limit: limit)
        try map.texts(
            &removedHeaders, &wire.pointee.n_removed_response_headers,
            &wire.pointee.removed_response_headers, "TransferTerms.removed_response_headers",
            countMax: limit, limit: TransferTerms.textBytesMax)
    }
}

/// A status and what is put in its place; 0: every other one.
private struct StatusChange: WireMessage {
    var from: Int
    var to: Int

    typealias Form = Imagebus__V1__StatusChange
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__status_change__init }
    static var blank: Self { Self(from: 0, to: 100) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.number(&from, within: 0...599, &wire.pointee.from, "StatusChange.from")
        try map.number(&to, within: 100...599, &wire.pointee.to, "StatusChange.to")
    }
}

extension Decryptor: WireMessage {
    private enum Kind: UInt32 {
        case aes256GCM = 0
        case gzip = 1
        case base64 = 2
    }

    typealias Form = Imagebus__V1__Decryptor
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__decryptor__init }
    static var blank: Self { .gzip }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        var (kind, key) = (self.kind, keyText)
        try map.word(&kind, &wire.pointee.kind, "Decryptor.kind")
        try map.text(&key, &wire.pointee.key, "Decryptor.key", limit: 2 * Self.keyBytes)
        switch kind {
        case .gzip: self = .gzip
        case .base64: self = .base64
        case .aes256GCM:
            guard let bytes = Self.key(ofHex: key) else {
                throw .field("Decryptor.key", .unknownValue)
            }
            self = .aes256GCM(key: bytes)
        }
    }

    private var kind: Kind {
        switch self {
        case .aes256GCM: .aes256GCM
        case .gzip: .gzip
        case .base64: .base64
        }
    }

    private var keyText: String {
        if case .aes256GCM(let key) = self { key.hex } else { "" }
    }
}

extension TransferCredential: WireMessage {
    private enum Word: UInt32 {
        case basic = 0
        case digest = 1
    }

    typealias Form = Imagebus__V1__Credential
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__credential__init }
    static var blank: Self { Self(.basic, user: "", password: "") }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        var word: Word = method == .basic ? .basic : .digest
        try map.word(&word, &wire.pointee.method, "Credential.method")
        method = word == .basic ? .basic : .digest
        let limit = TransferTerms.textBytesMax
        try map.text(&user, &wire.pointee.user, "Credential.user", limit: limit)
        try map.text(&password, &wire.pointee.password, "Credential.password", limit: limit)
    }
}

extension ClientCertificate: WireMessage {
    typealias Form = Imagebus__V1__Certificate
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__certificate__init }
    static var blank: Self { Self(path: "", keyPath: "") }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        let limit = TransferTerms.textBytesMax
        try map.text(&path, &wire.pointee.path, "Certificate.path", limit: limit)
        try map.text(&keyPath, &wire.pointee.key_path, "Certificate.key_path", limit: limit)
    }
}
