import Dispatching
package import ImageModel
package import Messages

/// Where source bytes come from. Work on bytes of different sources is never shared: a request that
/// may not fetch must not wait for a fetch, and one that asks no cache must not be answered by one
/// (SEMANTICS §3.3).
package indirect enum ByteSource: Hashable, Sendable {
    /// The URL, on these terms.
    case network(FetchTerms)
    /// The cache's copy of the original, staged for decoders by this query.
    case cache(QueryWork)
    /// The URL, for waiters with a cached image of bytes with this mark (`refreshCached`).
    case revalidation(BodyMark, FetchTerms)
    /// No bytes: an image of one colour.
    case canvas(Canvas)

    /// Whether it is the URL, for everybody.
    var isNetwork: Bool {
        if case .network = self { return true }
        return false
    }

    /// Whether a transfer brings the bytes.
    var isFetched: Bool {
        switch self {
        case .network, .revalidation: true
        case .cache, .canvas: false
        }
    }

    /// Whether the URL is asked for its bytes, whatever anybody has: such transfers are one.
    var isUnconditional: Bool {
        switch self {
        case .network: true
        case .cache, .canvas: false
        case .revalidation(let mark, _): mark.validators == nil
        }
    }

    /// On what terms it is asked, where it is the URL.
    var terms: FetchTerms? {
        switch self {
        case .network(let terms), .revalidation(_, let terms): terms
        case .cache, .canvas: nil
        }
    }

    /// The mark of the image that its waiters have.
    var mark: BodyMark? {
        if case .revalidation(let mark, _) = self { return mark }
        return nil
    }

    /// Whether all its waiters have an image already.
    var isRevalidation: Bool {
        if case .revalidation = self { return true }
        return false
    }
}

/// What has to be equal in requests that share a transfer, besides what they ask for.
package struct FetchTerms: Hashable, Sendable {
    /// Patterns that redirects have to match, where there are any. A request that may follow fewer
    /// redirects does not join a transfer that may follow more (`LoadTerms.sources`).
    let permitted: [String]
    /// The role of the cache that keeps the answer, if its origin lets it.
    let role: CacheRole
    /// What a rule has asked instead of the URL.
    let askedURL: String?
    /// What rules say of the transfer: who asks, and what becomes of the answer.
    let transfer: TransferTerms
    /// Bytes of the body at most, where the configuration says how many.
    let bodyBytesMax: Int?
    /// Who obtains them: another loader may have other bytes under the same URL.
    let loader: FetchLoader
    /// Whether what the origin says of tags counts.
    let takesTags: Bool

    package init(_ terms: borrowing LoadTerms) {
        (permitted, role) = (terms.sources, terms.cacheRole)
        bodyBytesMax = terms.limits[.body]
        loader = terms.loader
        takesTags = terms.takesOriginTags
        (askedURL, transfer) = (terms.askedURL, terms.transfer)
    }
}

/// An image of one colour.
package struct Canvas: Hashable, Sendable {
    package let colour: Colour
    package let size: PixelSize

    package init(colour: Colour, size: PixelSize) { (self.colour, self.size) = (colour, size) }
}

/// A key of `ImageModel` together with the origin of its bytes. An object, so that nodes and tables
/// have it without copies; it keeps its hash.
final class Sourced<Key: Hashable & Sendable>: Hashable, Sendable {
    let key: Key
    let origin: ByteSource
    private let digest: Int

    init(key: Key, origin: ByteSource) {
        (self.key, self.origin) = (key, origin)
        // The text of the query follows from the key, but for rare cases: it need not be hashed.
        var hasher = Hasher()
        hasher.combine(key)
        hasher.combine(origin.isNetwork)
        digest = hasher.finalize()
    }

    static func == (one: Sourced, other: Sourced) -> Bool {
        if one === other { return true }
        return one.digest == other.digest && one.key == other.key && one.origin == other.origin
    }

    func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}

/// Which result, under which name, out of which bytes. An object with its hash, like `Sourced`.
final class ResultName: Hashable, Sendable {
    let key: ResultKey
    /// The text of the cache key.
    let text: String
    let origin: ByteSource
    /// Which decode it is made of.
    let decode: Sourced<DecodeKey>
    private let digest: Int

    init(key: ResultKey, text: String, origin: ByteSource) {
        (self.key, self.text, self.origin) = (key, text, origin)
        decode = Sourced(key: key.decode, origin: origin)
        // The text says what the key says, but for headers. What neither says, but for rare cases,
        // need not be hashed.
        var hasher = Hasher()
        hasher.combine(text)
        hasher.combine(key.decode.source)
        hasher.combine(origin.isNetwork)
        digest = hasher.finalize()
    }

    static func == (one: ResultName, other: ResultName) -> Bool {
        if one === other { return true }
        return one.digest == other.digest && one.text == other.text && one.key == other.key
            && one.origin == other.origin
    }

    func hash(into hasher: inout Hasher) { hasher.combine(digest) }

    /// The same out of other bytes.
    func with(_ origin: ByteSource) -> ResultName {
        ResultName(key: key, text: text, origin: origin)
    }
}

/// The part of a request that an answer depends on, as its origin says (`Vary`, RFC 9110 §12.5.5).
enum Variance: Hashable, Sendable {
    /// On nothing that tells two requests apart here.
    case none
    /// On these header fields: names in lower case, in order.
    case fields([String])
    /// On what nobody knows: the answer is for one request.
    case everything

    private static func isSpace(_ character: Character) -> Bool {
        character == " " || character == "\t"
    }

    /// Reads the field as it came. The loader undoes encodings by itself, and credentials are in
    /// the key anyway: what is left is among the few fields that are none. What is no list of names
    /// is taken for the worst.
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

/// Where what is made of a body may be kept.
enum Keeping: Hashable, Sendable {
    /// Under the names that the request came with.
    case asNamed
    /// Under the names with this digest of header values, or with none.
    case variant(String?)
    /// Nowhere: it is only for its waiters.
    case nowhere
}

extension FetchedBody {
    /// What its origin says of caching; `nil` where the worker does not say how old it is.
    var caching: OriginCaching? {
        age.map {
            OriginCaching(
                CacheControl(cacheControl), $0, variesOnEverything: Variance(vary) == .everything)
        }
    }
}

extension FetchTerms {
    /// Whether what came may be kept at all.
    func mayKeep(_ body: FetchedBody) -> Bool { role.mayKeep(CacheControl(body.cacheControl)) }
}

/// What is known of the bytes that something is made of.
struct Provenance: Sendable {
    /// Which tier had them.
    var tier: CacheTypes = .none
    /// What tells them from others.
    var mark = BodyMark.none
    /// What their origin says of caching, as far as that is known.
    var caching: OriginCaching?
    /// Of which entries they are found by (SEMANTICS §5.20).
    var tags: [String] = []
    /// What an operator put beside them.
    var extendedData: ExtendedData?
    /// Where what is made of them may be kept.
    var keeping = Keeping.asNamed
    /// When their transfer began, where there was one.
    var began: TransferSerial?
    /// Whether a transfer that began later replaced them: they are stored nowhere.
    var isOutdated = false
    /// How they came, where they were fetched.
    var fetched: FetchAccount?
}

// Answers that depend on request headers are kept by their values (SEMANTICS §5.10; RFC 9111 §4.1).
extension Deriver {
    /// A body came. The headers that it depends on say where it is kept, and where it is looked for
    /// from now on, unless its origin lets nobody keep it. All waiters of one source sent the same
    /// headers, on the same terms.
    mutating func learnVariance(_ node: SourceNode.ID, _ body: FetchedBody) {
        let mayKeep = sources[node].name.origin.terms?.mayKeep(body) ?? true
        switch Variance(body.vary) {
        case _ where !mayKeep: sources[node].keep(.nowhere)
        case .none: sources[node].keep(.variant(nil))
        case .fields(let fields):
            let variant = variant(of: sources[node].name.key, fields)
            sources[node].keep(.variant(variant), fields: fields)
        case .everything: sources[node].keep(.nowhere)
        }
        for text in sources[node].storing.originals.texts { teachVariance(of: node, text) }
    }

    /// What is known of a body holds for every text under which somebody wants it kept. It is known
    /// by text and not by URL. So all requests that share a text look in one place, whatever URL
    /// they ask for, and no identity moves another one's entries.
    mutating func teachVariance(of node: SourceNode.ID, _ plain: String) {
        guard sources[node].keeping != .asNamed else { return }
        tell(.varies(plain, sources[node].fields))
    }

    /// The digest of what the fields are in a request. Their names are in it: an absent field
    /// differs from a field that the origin does not depend on.
    package func variant(of key: SourceKey, _ fields: [String]) -> String {
        let names = HTTPHeader(name: "vary", value: fields.joined(separator: ","))
        return variantDigest([names] + key.headers.filter { fields.contains($0.name) })
    }
}
