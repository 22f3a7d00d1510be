import Model

/// The origin of source bytes. Work on bytes of different origins is never shared: a request that
/// may not fetch must not wait for a fetch, and a request that bypasses the cache must not be
/// answered from it (SEMANTICS §3.3).
indirect enum ByteSource: Hashable, Sendable {
    /// The URL, fetched with these terms.
    case network(FetchTerms)
    /// The original in the cache, staged for decoders by this query.
    case cache(QueryWork)
    /// The URL, for subscribers that have a cached image made from bytes with this mark
    /// (`refreshCached`).
    case revalidation(BodyMark, FetchTerms)
    /// No bytes: a solid-color image.
    case canvas(Canvas)

    /// Whether the bytes are fetched unconditionally for any subscriber.
    var isNetwork: Bool {
        if case .network = self { return true }
        return false
    }

    /// Whether a transfer delivers the bytes.
    var isFetched: Bool {
        switch self {
        case .network, .revalidation: true
        case .cache, .canvas: false
        }
    }

    /// Whether the transfer is unconditional regardless of cached bytes; such transfers are shared.
    var isUnconditional: Bool {
        switch self {
        case .network: true
        case .cache, .canvas: false
        case .revalidation(let mark, _): mark.validators == nil
        }
    }

    /// The terms of the transfer, if there is one.
    var terms: FetchTerms? {
        switch self {
        case .network(let terms), .revalidation(_, let terms): terms
        case .cache, .canvas: nil
        }
    }

    /// The mark of the image that the subscribers have.
    var mark: BodyMark? {
        if case .revalidation(let mark, _) = self { return mark }
        return nil
    }

    /// Whether all subscribers already have an image.
    var isRevalidation: Bool {
        if case .revalidation = self { return true }
        return false
    }
}

/// The properties, besides the URL and headers, that must be equal for requests to share a
/// transfer.
struct FetchTerms: Hashable, Sendable {
    /// Patterns that redirects must match; empty if unrestricted. A request with fewer permitted
    /// redirects doesn't join a transfer with more (`LoadTerms.sources`).
    let permitted: [String]
    /// The role of the cache that may store the response.
    let role: CacheRole
    /// The URL to fetch if a rule substitutes one.
    let urlToFetch: String?
    /// Transfer settings of rules: credentials and changes to the response.
    let transfer: TransferTerms
    /// The configured size limit of the body in bytes, if any.
    let bodyBytesMax: Int?
    /// The loader; different loaders may return different bytes for the same URL.
    let loader: FetchLoader
    /// Whether tags in the response are applied.
    let takesTags: Bool

    init(_ terms: borrowing LoadTerms) {
        (permitted, role) = (terms.sources, terms.cacheRole)
        bodyBytesMax = terms.limits[.body]
        loader = terms.loader
        takesTags = terms.takesOriginTags
        (urlToFetch, transfer) = (terms.urlToFetch, terms.transfer)
    }
}

/// A solid-color image.
struct Canvas: Hashable, Sendable {
    let color: Color
    let size: PixelSize
}

/// Identifies a decode by key and origin of the bytes. A reference type, so that nodes and tables
/// share it without copies; its hash is cached.
final class DecodeName: Hashable, Sendable {
    let key: DecodeKey
    let origin: ByteSource
    private let digest: Int

    init(key: DecodeKey, origin: ByteSource) {
        (self.key, self.origin) = (key, origin)
        // The text of the query follows from the key with rare exceptions and needn't be hashed.
        var hasher = Hasher()
        hasher.combine(key)
        hasher.combine(origin.isNetwork)
        digest = hasher.finalize()
    }

    static func == (one: DecodeName, other: DecodeName) -> Bool {
        if one === other { return true }
        return one.digest == other.digest && one.key == other.key && one.origin == other.origin
    }

    func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}

/// Identifies a result by key, cache key text, and origin of its bytes. A reference type with a
/// cached hash, like `DecodeName`.
final class ResultName: Hashable, Sendable {
    let key: ResultKey
    /// The text of the cache key.
    let text: String
    /// The decode from which it is made.
    let decode: DecodeName
    var origin: ByteSource { decode.origin }
    private let digest: Int

    init(key: ResultKey, text: String, decode: DecodeName) {
        (self.key, self.text, self.decode) = (key, text, decode)
        // The text represents the whole key except for headers, which the decode contains.
        // Properties covered by neither rarely differ and needn't be hashed.
        var hasher = Hasher()
        hasher.combine(text)
        hasher.combine(decode)
        digest = hasher.finalize()
    }

    static func == (one: ResultName, other: ResultName) -> Bool {
        if one === other { return true }
        return one.digest == other.digest && one.text == other.text && one.key == other.key
            && one.origin == other.origin
    }

    func hash(into hasher: inout Hasher) { hasher.combine(digest) }

    /// Returns the same result made from the same pixels of other bytes.
    func with(_ decode: DecodeName) -> ResultName {
        ResultName(key: key, text: text, decode: decode)
    }
}

/// The request properties on which a response depends (`Vary`, RFC 9110 §12.5.5).
enum Variance: Hashable, Sendable {
    /// Nothing that distinguishes requests here.
    case none
    /// These header fields, in lowercase and sorted.
    case fields([String])
    /// Unknown properties: the response is valid for one request only.
    case everything

    private static func isSpace(_ character: Character) -> Bool {
        character == " " || character == "\t"
    }

    /// Parses the field as received. The loader decodes content codings itself, and credentials are
    /// part of the key anyway, so only fields other than those are kept. A malformed list counts as
    /// `everything`.
    init(_ field: String?) {
        let names = (field ?? "").split(separator: ",").map { name in
            String(name.drop(while: Self.isSpace).reversed().drop(while: Self.isSpace).reversed())
                .lowercased()
        }
        let headers = Set(names).subtracting([""]).map { HTTPHeader(name: $0, value: "") }
        guard headers.allSatisfy({ $0.isValid && $0.name != "*" }) else {
            self = .everything
            return
        }
        let known = headers.filter { !$0.isCredential }.map(\.name)
        self = known.isEmpty ? .none : .fields(known.sorted())
    }
}

/// Where products of a body may be stored.
enum Keeping: Hashable, Sendable {
    /// Under the original names of the request.
    case asNamed
    /// Under the names with this digest of header values, or without a digest if `nil`.
    case variant(String?)
    /// Nowhere: they are for the current subscribers only.
    case nowhere
}

extension FetchedBody {
    /// The caching information of the response; `nil` if the worker doesn't report its age.
    var caching: OriginCaching? {
        age.map {
            OriginCaching(
                CacheControl(cacheControl), $0, variesOnEverything: Variance(vary) == .everything)
        }
    }
}

extension FetchTerms {
    /// Whether the body may be stored at all.
    func mayKeep(_ body: FetchedBody) -> Bool { role.mayKeep(CacheControl(body.cacheControl)) }
}

/// Information about the bytes from which a product is made.
struct Provenance: Sendable {
    /// The tier in which the bytes were found; none if they were fetched.
    var tier: CacheTypes = .none
    /// Identifies the bytes.
    var mark = BodyMark.none
    /// The origin's caching information, as far as it is known.
    var caching: OriginCaching?
    /// Tags of entries made from the bytes, in addition to the request's (SEMANTICS §5.20).
    var tags: [String] = []
    /// Operator-supplied data stored alongside.
    var extendedData: ExtendedData?
    /// Where products may be stored.
    var keeping = Keeping.asNamed
    /// The start of the transfer, if there was one.
    var began: TransferSerial?
    /// Whether a later transfer has replaced the bytes, so that products aren't stored.
    var isOutdated = false
    /// Details of the transfer, if the bytes were fetched.
    var fetched: FetchAccount?

    /// Returns the metadata to store with the bytes, or with a result made from them; `tags` are
    /// those of the request, and `body` is the response if the bytes themselves are stored.
    func metadata(
        _ info: ImageInfo, tags asked: [String], of body: FetchedBody? = nil
    ) -> StoredMetadata {
        var metadata = StoredMetadata(
            info: info, contentType: body?.contentType, etag: mark.etag,
            lastModified: mark.lastModified, vary: body?.vary, caching: caching)
        metadata.tags = CacheTag.union(asked, tags)
        metadata.extendedData = extendedData
        return metadata
    }
}

// Responses that depend on request headers are stored by header values (SEMANTICS §5.10;
// RFC 9111 §4.1).
extension WorkGraph {
    /// Handles the variance of a response: the headers it depends on determine where it is stored
    /// and looked up from now on, unless the origin forbids storage. All subscribers of one source
    /// sent the same headers with the same terms.
    func learnVariance(_ node: SourceNode.ID, _ body: FetchedBody) {
        let mayKeep = sources[node].origin.terms?.mayKeep(body) ?? true
        switch Variance(body.vary) {
        case _ where !mayKeep: sources[node].keep(.nowhere)
        case .none: sources[node].keep(.variant(nil))
        case .fields(let fields):
            let variant = variant(of: sources[node].key, fields)
            sources[node].keep(.variant(variant), fields: fields)
        case .everything: sources[node].keep(.nowhere)
        }
        for text in sources[node].storing.originals.texts { teachVariance(of: node, text) }
    }

    /// Reports the variance for a text under which a subscriber wants the body stored. The variance
    /// is recorded per text and not per URL, so that all requests that share a text look in one
    /// place whatever URL they ask for, and no identity affects another one's entries.
    func teachVariance(of node: SourceNode.ID, _ plain: String) {
        guard sources[node].keeping != .asNamed else { return }
        emit(.withdrawn(.varies(plainOriginal: plain, sources[node].fields)))
    }

    /// Returns the digest of the values of these fields in a request. Their names are included
    /// because an absent field differs from one on which the response doesn't depend.
    func variant(of key: SourceKey, _ fields: [String]) -> String {
        let names = HTTPHeader(name: "vary", value: fields.joined(separator: ","))
        return variantDigest([names] + key.headers.filter { fields.contains($0.name) })
    }
}
