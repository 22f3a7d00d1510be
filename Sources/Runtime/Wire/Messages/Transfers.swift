import CMessages
import Model

extension FetchWork: WireMessage {
    typealias Form = Imagebus__V1__Fetch
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__fetch__init }
    static var blank: Self {
        Self(url: "", headers: [], bodyBytesMax: 0, validators: nil, sources: [])
    }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.text(&url, &wire.pointee.url, "Fetch.url", limit: RequestLimits.urlBytesMax)
        try map.headers(&headers, &wire.pointee.n_headers, &wire.pointee.headers, "Fetch.headers")
        try map.number(&bodyBytesMax, &wire.pointee.body_bytes_max, "Fetch.body_bytes_max")
        var validators = self.validators.map {
            OriginValidators(etag: $0.etag, lastModified: $0.lastModified)
        }
        try map.maybe(&validators, &wire.pointee.validators, "Fetch.validators")
        self.validators = try validators?.checked()
        try map.texts(
            &sources, &wire.pointee.n_sources, &wire.pointee.sources, "Fetch.sources",
            countMax: MessageLimits.sourcesMax, limit: MessageLimits.sourcesBytesMax)
        guard sources.reduce(0, { $0 + $1.utf8.count }) <= MessageLimits.sourcesBytesMax else {
            throw .field("Fetch.sources", .tooLong(limit: MessageLimits.sourcesBytesMax))
        }
        try loader(map, wire)
        try map.part(&terms, unless: terms.isEmpty, &wire.pointee.terms, "Fetch.terms")
    }
}

// The loader that obtains the bytes; HTTP if absent.
extension FetchWork {
    mutating func loader(
        _ map: some FieldMap, _ wire: CPart<Form>
    ) throws(WireError) {
        var loader = self.loader
        if try map.part(
            { if case .file(let root) = loader { root } else { nil } }, { loader = .file($0) },
            &wire.pointee.file, if: &wire.pointee.maybe_loader_case, 16, "Fetch.file")
        {
            return self.loader = loader
        }
        if try map.unit(
            loader == .data, { loader = .data }, &wire.pointee.data,
            if: &wire.pointee.maybe_loader_case, 17, "Fetch.data")
        {
            return self.loader = loader
        }
        if try map.part(
            { if case .s3(let place) = loader { place } else { nil } }, { loader = .s3($0) },
            &wire.pointee.s3, if: &wire.pointee.maybe_loader_case, 18, "Fetch.s3")
        {
            return self.loader = loader
        }
        if try map.text(
            { if case .pool(let name) = loader { name } else { nil } }, { loader = .pool($0) },
            &wire.pointee.pool, if: &wire.pointee.maybe_loader_case, 19, "Fetch.pool",
            limit: PoolName.bytesMax)
        {
            return self.loader = loader
        }
        self.loader = .http
    }
}

extension FileRoot: WireMessage {
    typealias Form = Imagebus__V1__FileRoot
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__file_root__init }
    static var blank: Self { Self(path: "") }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.text(&path, &wire.pointee.path, "FileRoot.path", limit: Self.bytesMax)
    }
}

extension S3Place: WireMessage {
    typealias Form = Imagebus__V1__S3Place
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__s3_place__init }
    static var blank: Self { Self(endpoint: "", region: "") }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.text(
            &endpoint, &wire.pointee.endpoint, "S3Place.endpoint", limit: Self.endpointBytesMax)
        try map.text(&region, &wire.pointee.region, "S3Place.region", limit: Self.regionBytesMax)
        map.flag(
            &hasBucketInHost, &wire.pointee.has_bucket_in_host, "S3Place.has_bucket_in_host")
        try map.maybe(&credentials, &wire.pointee.credentials, "S3Place.credentials")
        try map.texts(
            &allowedAddresses, &wire.pointee.n_allowed_addresses,
            &wire.pointee.allowed_addresses, "S3Place.allowed_addresses",
            countMax: Self.addressesMax, limit: Self.addressBytesMax)
    }
}

extension S3Credentials: WireMessage {
    typealias Form = Imagebus__V1__S3Credentials
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__s3_credentials__init }
    static var blank: Self { Self(accessKeyID: "", secretAccessKey: "") }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.text(
            &accessKeyID, &wire.pointee.access_key_id, "S3Credentials.access_key_id",
            limit: Self.idBytesMax)
        try map.text(
            &secretAccessKey, &wire.pointee.secret_access_key,
            "S3Credentials.secret_access_key", limit: Self.secretBytesMax)
        try map.text(
            &sessionToken, &wire.pointee.session_token, "S3Credentials.session_token",
            limit: Self.tokenBytesMax)
    }
}

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

/// A status and its replacement; 0 stands for every other status.
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

/// `Validators` before it is known whether any are present.
struct OriginValidators: WireMessage {
    var etag: String?
    var lastModified: String?

    typealias Form = Imagebus__V1__Validators
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__validators__init }
    static var blank: Self { Self(etag: nil, lastModified: nil) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        let limit = MessageLimits.originHeaderBytesMax
        try map.text(
            &etag, &wire.pointee.etag, if: &wire.pointee.maybe_etag_case, 1, "Validators.etag",
            limit: limit)
        try map.text(
            &lastModified, &wire.pointee.last_modified, if: &wire.pointee.maybe_last_modified_case,
            2, "Validators.last_modified", limit: limit)
    }

    func checked() throws(WireError) -> Validators {
        guard let validators = Validators(etag: etag, lastModified: lastModified) else {
            throw .field("Fetch.validators", .missing)
        }
        return validators
    }
}

extension FieldMap {
    /// The headers of a request: at most `headersMax`, with at most `headerBytesMax` in total.
    func headers(
        _ value: inout [HTTPHeader], _ count: inout Int,
        _ member: inout CList<Imagebus__V1__Header>?, _ field: String
    ) throws(WireError) {
        try list(&value, &count, &member, field, limit: RequestLimits.headersMax)
        let bytes = value.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
        guard bytes <= RequestLimits.headerBytesMax else {
            throw .field(field, .tooLong(limit: RequestLimits.headerBytesMax))
        }
    }
}

extension HTTPHeader: WireMessage {
    typealias Form = Imagebus__V1__Header
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__header__init }
    static var blank: Self { Self(name: "", value: "") }

    /// Errors name the list, because the limit applies to all headers together.
    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        let limit = RequestLimits.headerBytesMax
        try map.text(&name, &wire.pointee.name, map.container, limit: limit)
        try map.text(&value, &wire.pointee.value, map.container, limit: limit)
    }
}

/// The configured settings of transfers, as sent to workers.
struct DownloadSettingsMessage: WireMessage {
    var settings: DownloadSettings

    typealias Form = Imagebus__V1__DownloadSettings
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__download_settings__init }
    static var blank: Self { Self(settings: DownloadSettings()) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        var texts = settings.named
        try map.details(
            &texts, ParameterLimits.self, &wire.pointee.n_settings, &wire.pointee.settings,
            "DownloadSettings.settings", limit: RequestLimits.parametersMax)
        guard let settings = DownloadSettings(texts: texts) else {
            throw .field("DownloadSettings.settings", .unknownValue)
        }
        self.settings = settings
    }
}

/// An operator's command to suspend or resume transfers.
struct DownloadsRequest: WireMessage {
    var command: DownloadCommand

    typealias Form = Imagebus__V1__DownloadsCommand
    static var begin: (CPart<Form>?) -> Void { imagebus__v1__downloads_command__init }
    static var blank: Self { Self(command: .suspend) }

    mutating func fields(_ map: some FieldMap, _ wire: CPart<Form>) throws(WireError) {
        try map.word(&command, &wire.pointee.command, "DownloadsCommand.command")
    }
}
