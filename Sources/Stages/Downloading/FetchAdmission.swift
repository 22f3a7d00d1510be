import Curl
import Model

/// A validated fetch job: its URL is supported and its headers can be sent.
struct FetchAdmission {
    private(set) var url: String
    private(set) var headers: [HTTPHeader]
    let bodyBytesMax: Int64
    private(set) var terms: TransferTerms
    /// Patterns of which every redirect must match one; empty for no restriction.
    private let sources: [String]

    /// Checks addresses in URLs if a proxy connects to them; otherwise nil, and every address is
    /// checked when connecting.
    private let addressGuard: AddressGuard?

    /// The additions of the S3 loader.
    private let s3: S3Request?

    /// How its requests are signed.
    var signing: TransferSigning? { s3?.signing }
    /// Addresses that are allowed only for this job.
    var allowedAddresses: Set<SocketAddress> { s3?.allowedAddresses ?? [] }
    /// The public name of its URL; `nil` for the URL of the last response.
    var name: String? { s3?.name }

    init(_ work: FetchWork, through addressGuard: AddressGuard?) throws(ImageError) {
        s3 = try S3Request(work)
        let source = try SourceURL(s3?.url ?? work.url)
        guard source.scheme == "http" || source.scheme == "https" else {
            throw ImageError(
                .unsupportedScheme, "no loader accepts '\(source.scheme):'; use http or https")
        }
        guard Self.permits(source, addressGuard?.allowing(s3?.allowedAddresses ?? [])) else {
            throw .addressBlocked
        }
        for header in work.headers where !header.isValid || header.refusal != nil {
            throw ImageError(
                .invalidRequest, "the header '\(header.name.prefix(64))' cannot be sent")
        }
        try Self.require(work.terms.requiredHeaders, in: work)
        terms = work.terms
        url = s3?.url ?? work.url
        headers = (s3?.headers ?? work.headers) + Self.conditions(of: work)
        bodyBytesMax = Int64(clamping: work.bodyBytesMax)
        sources = work.sources
        self.addressGuard = addressGuard
    }

    /// Checks that required headers are set by the request or by rules.
    private static func require(
        _ names: [String], in work: FetchWork
    ) throws(ImageError) {
        var known = Set(work.headers.map { $0.name.lowercased() })
        if work.terms.credential != nil { known.insert("authorization") }
        if let missing = names.first(where: { !known.contains($0.lowercased()) }) {
            throw ImageError(
                .invalidDownloadOperation,
                "a configuration rule requires the header '\(missing.prefix(64))', which the "
                    + "request does not have")
        }
    }

    /// The host if it is a name that this process resolves; with a proxy, the proxy resolves it.
    var nameToLookUp: String? {
        guard addressGuard == nil, let host = Location.host(of: url), IPAddress(host: host) == nil
        else { return nil }
        return host
    }

    /// Names are resolved by the proxy. An address with a trailing dot isn't a name.
    private static func permits(_ url: SourceURL, _ addressGuard: AddressGuard?) -> Bool {
        guard let addressGuard else { return true }
        let host = Location.host(of: url.withoutUserInfo) ?? url.host
        let name = host.hasSuffix(".") ? String(host.dropLast()) : host
        guard let address = IPAddress(host: name) else { return true }
        let port = url.authority.split(separator: ":").last.flatMap { UInt16($0) } ?? 0
        return addressGuard.permits(SocketAddress(address: address, port: port))
    }

    /// Follows a redirect, which is admitted like the previous URL (SEMANTICS §10.2). Another
    /// origin gets neither user info nor headers that may contain credentials, by their name or
    /// because their value is a secret of a rule; they stay removed for later redirects.
    mutating func follow(_ reference: String) throws(ImageError) {
        guard s3 == nil else { throw S3Request.redirected }
        guard let next = Location.resolve(reference, against: url) else {
            throw .badLocation("not a valid URL")
        }
        let (old, new): (SourceURL, SourceURL)
        do throws(ImageError) {
            (old, new) = (try SourceURL(url), try SourceURL(next))
        } catch {
            throw .badLocation(error.message)
        }
        guard new.scheme == "http" || new.scheme == "https" else {
            throw ImageError(
                .unsupportedScheme,
                "a redirect leads to '\(new.scheme.prefix(32)):'; redirects are followed only to "
                    + "http and https, whatever loaders are configured")
        }
        guard sources.isEmpty || URLPattern.permits(new, sources.compactMap { URLPattern($0) })
        else {
            throw ImageError(
                .sourceForbidden,
                "a redirect leads to a URL that the configuration does not allow as a source: "
                    + "add it to 'sources' in the configuration (serve --config)")
        }
        guard Self.permits(new, addressGuard) else { throw .addressBlocked }
        let isSameOrigin = new.hasSameOrigin(as: old)
        if !isSameOrigin {
            let secret = Set(terms.secretHeaders)
            headers.removeAll { $0.isCredential || secret.contains($0.name.lowercased()) }
            (terms.credential, terms.certificate, terms.cookieJar) = (nil, nil, nil)
            // The rule applies only to the host that it names.
            terms.isUnverified = false
        }
        guard isSameOrigin, new.userInfo == nil, let userInfo = old.userInfo else {
            url = next
            return
        }
        url = "\(new.scheme)://\(userInfo)@" + new.withoutUserInfo.dropFirst(new.scheme.count + 3)
    }

    /// Returns the headers for a range request instead of the whole body. The body is known to
    /// differ from that of the conditions.
    func headers(for rest: RestOfBody?) -> [HTTPHeader] {
        guard let rest else { return headers }
        return headers.filter { !Self.conditions.contains($0.name.lowercased()) } + rest.headers
    }

    /// Whether the request is conditional.
    var isConditional: Bool { headers.contains { Self.conditions.contains($0.name.lowercased()) } }

    private static let conditions: Set<String> = ["if-none-match", "if-modified-since"]

    /// Returns the conditions of a revalidation; client requests contain none. The date is for
    /// origins without entity tags (RFC 9110 §13.1.3).
    private static func conditions(of work: FetchWork) -> [HTTPHeader] {
        guard let validators = work.validators else { return [] }
        let conditions = [
            validators.etag.map { HTTPHeader(name: "If-None-Match", value: $0) },
            validators.lastModified.map { HTTPHeader(name: "If-Modified-Since", value: $0) },
        ]
        return conditions.compactMap(\.self).filter(\.isValid)
    }
}

/// The additional parts of a request to an S3 server.
struct S3Request {
    /// The URL at the endpoint.
    let url: String
    /// The public name of the object.
    let name: String
    /// Headers that are signed with the request.
    let headers: [HTTPHeader]
    /// The signature; `nil` for an anonymous request.
    let signing: TransferSigning?
    let allowedAddresses: Set<SocketAddress>

    /// Returns `nil` for another loader. Throws `invalidURL` for a URL that doesn't name an object,
    /// and `invalidRequest` for an invalid endpoint.
    init?(_ work: FetchWork) throws(ImageError) {
        guard case .s3(let place) = work.loader else { return nil }
        let source = try SourceURL(work.url)
        try work.loader.check(source)
        guard S3Place.isEndpoint(place.endpoint), S3Place.isRegion(place.region),
            place.credentials?.isValid ?? true
        else { throw ImageError(.invalidRequest, "the loader has no S3 endpoint") }
        url = place.url(of: try S3Object(source))
        name = source.withoutUserInfo
        headers = Self.headers(place.credentials)
        signing = place.credentials.map {
            TransferSigning(
                region: place.region, accessKeyID: $0.accessKeyID,
                secretAccessKey: $0.secretAccessKey)
        }
        allowedAddresses = Set(place.allowedAddresses.compactMap { SocketAddress($0) })
    }

    /// A GET has no body, so its digest is that of empty data.
    private static func headers(_ credentials: S3Credentials?) -> [HTTPHeader] {
        guard let credentials else { return [] }
        let digest = HTTPHeader(name: "x-amz-content-sha256", value: emptyDigest)
        guard !credentials.sessionToken.isEmpty else { return [digest] }
        return [
            digest, HTTPHeader(name: "x-amz-security-token", value: credentials.sessionToken),
        ]
    }

    /// SHA-256 of empty data.
    private static let emptyDigest =
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    /// Requests to S3 never follow redirects.
    static let redirected = ImageError(
        .invalidDownloadResponse,
        "the S3 server redirects to another URL, which S3 loaders do not follow: correct "
            + "endpoint, region or bucket of the loader in the configuration (serve --config)")
}

/// Limits name lookups while many are in progress.
///
/// Each lookup is a thread of libcurl. It lasts as long as the system's resolver, 10 s and more for
/// a silent name server, and can't be canceled: a canceled transfer leaves it running. So silent
/// name servers could use up all threads of the process. Above a first threshold, domains with
/// abandoned lookups are rejected; above a second one, all domains except those resolved before.
struct NameLookups {
    private var leftBehind: [String: (count: Int, until: Instant)] = [:]
    private var found: Set<String> = []

    /// The number of threads up to which every name is resolved: more than there are concurrent
    /// transfers.
    static let threadsFew = 288
    /// The number of threads up to which names of unknown domains are resolved. Units and
    /// containers permit 512.
    static let threadsMany = 416
    /// The number of abandoned lookups from which a domain counts as silent.
    static let leftBehindMax = 8
    /// The time in milliseconds after the last one for which it does.
    static let rememberedMilliseconds = 30_000
    /// The maximum number of remembered domains of each kind.
    static let domainsMax = 4_096

    /// Returns whether a name may be resolved by a process with this many threads.
    func permits(_ host: String, threads: Int, at now: Instant) -> Bool {
        guard threads > Self.threadsFew else { return true }
        let domain = Self.domain(of: host)
        if let silent = leftBehind[domain], silent.until > now, silent.count >= Self.leftBehindMax {
            return false
        }
        return threads <= Self.threadsMany || found.contains(domain)
    }

    /// Records a resolved name.
    mutating func found(_ host: String) {
        if found.count >= Self.domainsMax { found = [] }
        found.insert(Self.domain(of: host))
    }

    /// Records a transfer that ended before its name was resolved, leaving the lookup running.
    mutating func leftBehind(_ host: String, at now: Instant) {
        let domain = Self.domain(of: host)
        let known = leftBehind[domain].map { $0.until > now ? $0.count : 0 } ?? 0
        if leftBehind.count >= Self.domainsMax, known == 0 { leftBehind = [:] }
        leftBehind[domain] = (known + 1, now.adding(milliseconds: Self.rememberedMilliseconds))
    }

    /// Returns the domain that determines the name servers, approximated by the last two labels.
    private static func domain(of host: String) -> String {
        host.lowercased().split(separator: ".").suffix(2).joined(separator: ".")
    }
}
