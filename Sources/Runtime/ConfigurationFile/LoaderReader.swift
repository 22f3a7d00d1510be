import Model
import YAML

extension ValueReader where Value == [NamedLoader] {
    /// Loaders by name, in the order of the file: the last loader that accepts a URL is used.
    static let loaders = ValueReader { node, name, reading in
        guard let entries = reading.named(node, name) else { return nil }
        if entries.count > NamedLoader.countMax {
            reading.report(
                node.line, "\(name): at most \(NamedLoader.countMax) loaders are accepted")
        }
        return entries.compactMap { entry in
            guard reading.accepts(entry.key, in: name, line: entry.line, except: ["none"]) else {
                return nil
            }
            guard entry.key != NamedLoader.builtIn.name else {
                reading.report(
                    entry.line,
                    "\(name): '\(entry.key)' is the built-in loader: choose another name")
                return nil
            }
            return LoaderDraft.loader(entry, at: "\(name).\(entry.key)", &reading)
        }
    }
}

/// One loader as written in the file, before validation.
private struct LoaderDraft: Sendable {
    var kind: LoaderKind?
    var patterns: [URLPattern]?
    var root: String?
    var endpoint: String?
    var region: String?
    var hasBucketInHost: Bool?
    var credentials: String?
    var addresses: [String]?
    var pool: String?
}

extension KeyTable where Target == LoaderDraft {
    fileprivate static let loader = KeyTable([
        Row("kind", .word(LoaderKind.allCases.map { ($0.rawValue, $0) }), \.kind),
        Row("match", .list(of: .pattern), \.patterns),
        Row("root", .directory, \.root),
        Row("endpoint", .endpoint, \.endpoint),
        Row("region", .region, \.region),
        Row("bucket", .word([("path", false), ("host", true)]), \.hasBucketInHost),
        Row("credentials", .secretPath, \.credentials),
        Row("allow-addresses", .list(of: .address), \.addresses),
        Row("pool", .reference(.downloadPool), \.pool),
    ])
}

extension ValueReader where Value == String {
    fileprivate static let endpoint = scalar(
        "https://HOST or https://HOST:PORT", isShown: false
    ) { S3Place.isEndpoint($0) ? $0 : nil }

    fileprivate static let region = scalar(
        "a region of lowercase letters, digits and '-', such as eu-central-1"
    ) { S3Place.isRegion($0) ? $0 : nil }

    /// An IP address. Its validity is only known when connecting, but a host name is never
    /// accepted.
    fileprivate static let address = scalar(
        "an address with a port, such as 10.0.0.7:9000 or [fd00::7]:9000"
    ) { text in
        let isWritten = text.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x46, 0x61...0x66, 0x2E, 0x3A, 0x5B, 0x5D: true
            default: false
            }
        }
        return isWritten && text.utf8.count <= S3Place.addressBytesMax
            && SocketPlace.isAddress(text) ? text : nil
    }
}

extension LoaderDraft {
    /// Reads and validates one loader; `path` names it in errors.
    fileprivate static func loader(
        _ entry: YAMLEntry, at path: String, _ reading: inout Reading
    ) -> NamedLoader? {
        let before = reading.problems.count
        var draft = LoaderDraft()
        if !entry.value.isEmpty {
            KeyTable.loader.read(entry.value, path, into: &draft, &reading)
        }
        // A value that was already rejected isn't also reported as missing.
        guard reading.problems.count == before else { return nil }
        do throws(InvalidEntry) {
            return try draft.loader(entry.key)
        } catch {
            return reading.refuse(entry.line, "\(path): \(error.reason)")
        }
    }

    private func loader(_ name: String) throws(InvalidEntry) -> NamedLoader {
        guard let kind else {
            throw InvalidEntry(
                "'kind' is missing: specify one of "
                    + LoaderKind.allCases.map(\.rawValue).joined(separator: ", "))
        }
        try checkKeys(for: kind)
        var loader = NamedLoader(name: name, means: try means(kind))
        loader.patterns = patterns
        if kind == .s3, patterns != nil { loader.schemes = kind.schemes }
        loader.credentialsFile = credentials
        if let patterns, patterns.count > NamedLoader.patternsMax {
            throw InvalidEntry(
                "'match' accepts at most \(NamedLoader.patternsMax) patterns")
        }
        return loader
    }

    private func means(_ kind: LoaderKind) throws(InvalidEntry) -> FetchLoader {
        switch kind {
        case .http: return .http
        case .data: return .data
        case .file:
            guard let root else {
                throw InvalidEntry("'root' is missing: specify the directory of the files")
            }
            return .file(FileRoot(path: root))
        case .s3: return .s3(try place())
        case .pool:
            guard let pool else {
                throw InvalidEntry(
                    "'pool' is missing: specify a download pool with 'trust: external'")
            }
            return .pool(pool)
        }
    }

    private func place() throws(InvalidEntry) -> S3Place {
        guard let endpoint, let region else {
            let key = endpoint == nil ? "endpoint" : "region"
            throw InvalidEntry(
                "'\(key)' is missing: it is required for a loader of kind s3")
        }
        let hasBucketInHost = hasBucketInHost ?? false
        if hasBucketInHost, let url = try? SourceURL(endpoint),
            SocketPlace.isAddress(host: url.host)
        {
            throw InvalidEntry(
                "'bucket: host' requires an endpoint with a host name, not an address")
        }
        let addresses = addresses ?? []
        guard addresses.count <= S3Place.addressesMax else {
            throw InvalidEntry(
                "'allow-addresses' accepts at most \(S3Place.addressesMax) addresses")
        }
        return S3Place(
            endpoint: endpoint, region: region, hasBucketInHost: hasBucketInHost,
            allowedAddresses: addresses)
    }

    private func checkKeys(for kind: LoaderKind) throws(InvalidEntry) {
        let keys: [(name: String, isStated: Bool, kind: LoaderKind)] = [
            ("root", root != nil, .file),
            ("endpoint", endpoint != nil, .s3),
            ("region", region != nil, .s3),
            ("bucket", hasBucketInHost != nil, .s3),
            ("credentials", credentials != nil, .s3),
            ("allow-addresses", addresses != nil, .s3),
            ("pool", pool != nil, .pool),
        ]
        for key in keys where key.isStated && key.kind != kind {
            throw InvalidEntry(
                "'\(key.name)' does not apply to a loader of kind \(kind.rawValue)")
        }
    }
}

/// Syntax checks for network addresses.
private enum SocketPlace {
    /// Returns whether the text is `ADDRESS:PORT` with a port from 1 to 65535 and IPv6 in brackets.
    static func isAddress(_ text: String) -> Bool {
        guard let url = try? SourceURL("http://\(text)"), url.userInfo == nil,
            let port = text.split(separator: ":").last, UInt16(port).map({ $0 > 0 }) == true,
            url.host.utf8.count + port.utf8.count + 1 == text.utf8.count
        else { return false }
        return isAddress(host: url.host)
    }

    /// Returns whether the host is four numbers or in brackets.
    static func isAddress(host: String) -> Bool {
        if host.hasPrefix("[") { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
    }
}

extension KeyTable where Target == DownloadSettings {
    /// The options of `serve` by name, and the number of concurrent transfers.
    static let downloads = KeyTable(
        DownloadSetting.allCases.map { setting in
            let text = ValueReader<String>.scalar(setting.expected) {
                $0.utf8.count <= RequestLimits.parameterBytesMax && setting.value(of: $0) != nil
                    ? $0 : nil
            }
            return Row(setting.rawValue, text) { settings, text in
                _ = settings.set(setting, to: text)
            }
        } + [
            Row(
                "transfers", .number(in: DownloadSettings.transfersRange, "an integer"),
                \.transfersMax)
        ])
}
