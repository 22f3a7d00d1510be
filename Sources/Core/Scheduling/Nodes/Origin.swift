import ImageModel
import Messages

/// Where source bytes come from. Work from either side is never shared: who may not fetch must not
/// wait for a fetch, who asks no cache must not be answered by one (DESIGN §3).
enum Origin: Hashable, Sendable {
    /// The URL.
    case network
    /// The cache's copy of the original, staged for decoders by this query.
    case cache(QueryWork)
}

/// A key of `ImageModel` together with the origin of its bytes.
struct Sourced<Key: Hashable & Sendable>: Hashable, Sendable {
    let key: Key
    let origin: Origin
}

/// Which result, under which name, out of which bytes.
struct ResultName: Hashable, Sendable {
    let key: ResultKey
    /// The text of the cache key.
    let text: String
    let origin: Origin

    var decode: Sourced<DecodeKey> { Sourced(key: key.decode, origin: origin) }
}
