import Configuration
import Curl
import ImageModel
import Messages

/// A fetch job that may be tried: its URL is one that this stage takes, its headers can be sent.
struct FetchAdmission {
    private(set) var url: String
    private(set) var headers: [HTTPHeader]
    let bodyBytesMax: Int64
    /// What rules say of it.
    private(set) var terms: TransferTerms
    /// Patterns, one of which every redirect has to match; none: it need not.
    private let sources: [String]

    /// What decides on addresses that stand in URLs, where a proxy connects to them; else nil, and
    /// every address is decided on when it is connected to.
    private let addressGuard: AddressGuard?

    /// What the loader adds: of S3 a signature.
    private let s3: S3Request?

    /// How its requests are signed.
    var signing: TransferSigning? { s3?.signing }
    /// Addresses that it alone may have.
    var allowedAddresses: Set<SocketAddress> { s3?.allowedAddresses ?? [] }
    /// What its URL is called outside; `nil`: as the last response was.
    var name: String? { s3?.name }

    init(
        _ job: Job, through addressGuard: AddressGuard? = nil
    ) throws(DownloadFailure) {
        guard case .fetch(let work) = job.work else {
            throw .defect("a download worker was given \(job.work.kind) work")
        }
        do throws(ImageError) {
            s3 = try S3Request(work)
            let source = try SourceURL(s3?.url ?? work.url)
            guard source.scheme == "http" || source.scheme == "https" else {
                throw DownloadFailure.scheme(source.scheme).imageError
            }
            let addressGuard = addressGuard?.allowing(s3?.allowedAddresses ?? [])
            guard Self.permits(source, addressGuard) else {
                throw DownloadFailure.addressForbidden.imageError
            }
        } catch {
            throw .refused(error)
        }
        for header in work.headers where !header.isValid || header.refusal != nil {
            throw .header(header.name)
        }
        try Self.require(work.terms.requiredHeaders, in: work)
        terms = work.terms
        url = s3?.url ?? work.url
        headers = (s3?.headers ?? work.headers) + Self.conditions(of: work)
        bodyBytesMax = Int64(clamping: work.bodyBytesMax)
        sources = work.sources
        self.addressGuard = addressGuard
    }

    /// Headers that rules require are those of the request and of the rules.
    private static func require(
        _ names: [String], in work: FetchWork
    ) throws(DownloadFailure) {
        var known = Set(work.headers.map { $0.name.lowercased() })
        if work.terms.credential != nil { known.insert("authorization") }
        if let missing = names.first(where: { !known.contains($0.lowercased()) }) {
            throw .missingHeader(missing)
        }
    }

    /// The host, where it is a name that this process looks up: those of a proxy are the proxy's.
    var nameToLookUp: String? {
        guard addressGuard == nil, let host = Location.host(of: url), IPAddress(host: host) == nil
        else { return nil }
        return host
    }

    /// Names are the proxy's. An address with a dot behind it is no name.
    private static func permits(_ url: SourceURL, _ addressGuard: AddressGuard?) -> Bool {
        guard let addressGuard else { return true }
        let host = Location.host(of: url.withoutUserInfo) ?? url.host
        let name = host.hasSuffix(".") ? String(host.dropLast()) : host
        guard let address = IPAddress(host: name) else { return true }
        let port = url.authority.split(separator: ":").last.flatMap { UInt16($0) } ?? 0
        return addressGuard.permits(SocketAddress(address: address, port: port))
    }

    /// Goes on to where a redirect leads: admitted like the URL before it (SEMANTICS §10.2).
    /// Another origin gets neither user info nor any header that may say who asks, by its name or
    /// since its value is a secret of a rule; what was left out stays so.
    mutating func follow(_ reference: String) throws(DownloadFailure) {
        guard s3 == nil else { throw S3Request.redirected }
        guard let next = Location.resolve(reference, against: url) else {
            throw .badLocation("it is no URL")
        }
        let (old, new): (SourceURL, SourceURL)
        do throws(ImageError) {
            (old, new) = (try SourceURL(url), try SourceURL(next))
        } catch {
            throw .badLocation(error.message)
        }
        guard new.scheme == "http" || new.scheme == "https" else {
            throw .schemeOfRedirect(new.scheme)
        }
        guard sources.isEmpty || URLPattern.permits(new, sources.compactMap { URLPattern($0) })
        else { throw .sourceForbidden }
        guard Self.permits(new, addressGuard) else { throw .addressForbidden }
        let isSameOrigin = new.hasSameOrigin(as: old)
        if !isSameOrigin {
            let secret = Set(terms.secretHeaders)
            headers.removeAll { $0.isCredential || secret.contains($0.name.lowercased()) }
            (terms.credential, terms.certificate, terms.cookieJar) = (nil, nil, nil)
            // The rule is for the host that it names.
            terms.isUnverified = false
        }
        guard isSameOrigin, new.userInfo == nil, let userInfo = old.userInfo else {
            url = next
            return
        }
        url = "\(new.scheme)://\(userInfo)@" + new.withoutUserInfo.dropFirst(new.scheme.count + 3)
    }

    /// What asks for the rest of a body in place of all of it. The body is known to be another one
    /// than that of the conditions.
    func headers(for rest: RestOfBody?) -> [HTTPHeader] {
        guard let rest else { return headers }
        return headers.filter { !Self.conditions.contains($0.name.lowercased()) } + rest.headers
    }

    /// Whether the origin was asked to send nothing where nothing has changed.
    var isConditional: Bool { headers.contains { Self.conditions.contains($0.name.lowercased()) } }

    private static let conditions: Set<String> = ["if-none-match", "if-modified-since"]

    /// The conditions of a revalidation; a request brings none along. A date is for origins
    /// that do not know entity tags (RFC 9110 §13.1.3).
    private static func conditions(of work: FetchWork) -> [HTTPHeader] {
        guard let validators = work.validators else { return [] }
        let conditions = [
            validators.etag.map { HTTPHeader(name: "If-None-Match", value: $0) },
            validators.lastModified.map { HTTPHeader(name: "If-Modified-Since", value: $0) },
        ]
        return conditions.compactMap(\.self).filter(\.isValid)
    }
}

/// What a request to an S3 server has besides the URL and the conditions of any other one.
struct S3Request {
    /// The URL at the endpoint.
    let url: String
    /// What the object is called outside.
    let name: String
    /// Headers that are signed with the request.
    let headers: [HTTPHeader]
    /// `nil`: it asks as nobody.
    let signing: TransferSigning?
    let allowedAddresses: Set<SocketAddress>

    /// `nil` for another loader. Throws `invalidURL` for a URL that names no object, and
    /// `invalidRequest` for a place that is none.
    init?(_ work: FetchWork) throws(ImageError) {
        guard case .s3(let place) = work.loader else { return nil }
        let source = try SourceURL(work.url)
        try work.loader.check(source)
        guard S3Place.isEndpoint(place.endpoint), S3Place.isRegion(place.region),
            place.credentials?.isValid ?? true
        else { throw ImageError(.invalidRequest, "the loader has no endpoint of S3") }
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

    /// A GET has no body, whose digest is that of nothing.
    private static func headers(_ credentials: S3Credentials?) -> [HTTPHeader] {
        guard let credentials else { return [] }
        let digest = HTTPHeader(name: "x-amz-content-sha256", value: emptyDigest)
        guard !credentials.sessionToken.isEmpty else { return [digest] }
        return [
            digest, HTTPHeader(name: "x-amz-security-token", value: credentials.sessionToken),
        ]
    }

    /// SHA-256 of no bytes.
    private static let emptyDigest =
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    /// Nothing of the request goes anywhere else.
    static let redirected = DownloadFailure.refused(
        ImageError(
            .invalidDownloadResponse,
            "the S3 server leads to another URL, which no loader of S3 follows: put right "
                + "endpoint, region or bucket of the loader in the file of serve --config"))
}

/// Which names may be looked up while many lookups are under way.
///
/// A lookup is a thread of libcurl's. It lasts as long as the resolver of the system asks, 10 s and
/// more of a name server that says nothing, and nobody can end it before: a transfer that is
/// cancelled leaves it behind. So silent name servers could take all threads that this process may
/// have. Beyond some of them, domains are refused of which lookups were left behind; beyond most of
/// them, all domains but those whose names were found.
struct NameLookups {
    private var leftBehind: [String: (count: Int, until: Instant)] = [:]
    private var found: Set<String> = []

    /// Threads up to which every name is looked up: more than there are transfers at a time.
    static let threadsFew = 288
    /// Threads up to which names of unknown domains are looked up. Units and containers permit 512.
    static let threadsMany = 416
    /// Lookups left behind from which on a domain is one that does not answer.
    static let leftBehindMax = 8
    /// Milliseconds after the last one for which a domain is that.
    static let rememberedMilliseconds = 30_000
    /// Domains that are remembered as either, at most.
    static let domainsMax = 4_096

    /// Whether a name may be looked up by a process that has so many threads.
    func permits(_ host: String, threads: Int, at now: Instant) -> Bool {
        guard threads > Self.threadsFew else { return true }
        let domain = Self.domain(of: host)
        if let silent = leftBehind[domain], silent.until > now, silent.count >= Self.leftBehindMax {
            return false
        }
        return threads <= Self.threadsMany || found.contains(domain)
    }

    /// A name was found.
    mutating func found(_ host: String) {
        if found.count >= Self.domainsMax { found = [] }
        found.insert(Self.domain(of: host))
    }

    /// A transfer ended before its name was found, and left the lookup behind.
    mutating func leftBehind(_ host: String, at now: Instant) {
        let domain = Self.domain(of: host)
        let known = leftBehind[domain].map { $0.until > now ? $0.count : 0 } ?? 0
        if leftBehind.count >= Self.domainsMax, known == 0 { leftBehind = [:] }
        leftBehind[domain] = (known + 1, now.adding(milliseconds: Self.rememberedMilliseconds))
    }

    /// Whose name servers are asked, as far as a name tells: its last two labels.
    private static func domain(of host: String) -> String {
        host.lowercased().split(separator: ".").suffix(2).joined(separator: ".")
    }
}
