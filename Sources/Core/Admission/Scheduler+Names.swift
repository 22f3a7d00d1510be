import Derivation
import ImageModel
import Messages

// The texts under which results and originals are cached.
extension Scheduler {
    /// The names of a request. What an operator puts or reads has the name that he gave.
    mutating func names(
        of image: ImageRequest, _ terms: LoadTerms, _ upload: Upload?
    ) throws(ImageError) -> RequestNames {
        if case .entry(let key) = terms.base {
            let text = try Self.storedText(of: key, in: terms.cache)
            try deriver.layout.check(text, bytesMax: MessageLimits.keyBytesMax)
            return RequestNames(putting: key, in: terms.cache, image)
        }
        if let key = upload?.key {
            return RequestNames(putting: key, in: terms.cache, image)
        }
        return try names(of: image, terms, isUpload: upload != nil)
    }

    /// The texts under which a request's result and original are cached, as far as is known. Throws
    /// what is wrong with its image.
    mutating func names(
        of image: ImageRequest, _ terms: LoadTerms, isUpload: Bool = false
    ) throws(ImageError) -> RequestNames {
        let names = try namesMemo.names(
            of: image, terms, isUpload: isUpload, limits: limits.derivation.image,
            layout: deriver.layout)
        // Usually no origin varies: then a hit pays nothing.
        guard !hits.variances.isEmpty, let fields = hits.variances[names.plainOriginal] else {
            return names
        }
        return names.varied(by: deriver.variant(of: names.source, fields))
    }

    /// The text under which a cache has the key that an operator names. Throws for what is no key.
    static func storedText(of key: String, in cache: String) throws(ImageError) -> String {
        guard !key.isEmpty, key.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { throw noKey }
        let text = CacheKey.stored(shown: key, in: cache)
        guard text.utf8.count <= MessageLimits.keyBytesMax else { throw noKey }
        return text
    }

    /// Names of caches stand for these from now on.
    mutating func adopt(_ layout: CacheLayout) {
        deriver.layout = layout
        hits.adopt(layout)
        namesMemo.removeAll()
    }

    static let noKey = ImageError(
        .invalidRequest,
        "a cache key has 1 to \(MessageLimits.keyBytesMax) bytes and no control characters")
}
