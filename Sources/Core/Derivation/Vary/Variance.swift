import Dispatching
import ImageModel
import Messages

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
