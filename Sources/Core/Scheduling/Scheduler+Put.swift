import ImageModel
import Messages

// Bytes that an operator puts into a cache (sdwebimage.md §4.4, store).
extension Scheduler {
    /// Loads the header of the bytes, so that nothing is kept that is no image, and stores them as
    /// they are, like an original that was fetched. The reply says which tiers have them.
    mutating func admitPut(
        _ load: LoadRequest, of client: ClientID, _ terms: LoadTerms, _ reference: BlockReference
    ) {
        guard var upload = take(reference, of: load, client) else { return }
        defer { drop(upload.block) }
        do throws(ImageError) {
            let image = try Self.request(putting: load)
            guard case .text(let key) = load.image.context.key else { throw Self.noKey }
            try Self.check(key: key)
            upload.key = key
            var load = load
            load.image = image
            admit(load, of: client, terms, upload: upload)
        } catch {
            refuse(load, of: client, error)
        }
    }

    /// What a cache key may be, whoever chose it.
    static func check(key: String) throws(ImageError) {
        guard !key.isEmpty, key.utf8.count <= MessageLimits.keyBytesMax,
            key.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
        else { throw noKey }
    }

    /// The names of a request; what is put has the operator's.
    mutating func names(
        of image: ImageRequest, _ terms: LoadTerms, _ upload: Upload?
    ) throws(ImageError) -> RequestNames {
        if let key = upload?.key {
            return RequestNames(putting: key, in: terms.cache)
        }
        return try names(of: image, terms, isUpload: upload != nil)
    }

    /// Only the name of the bytes and where they go is the operator's. Each put is a source of its
    /// own: the same bytes may be put under several keys at once.
    private static func request(putting load: LoadRequest) throws(ImageError) -> ImageRequest {
        let asked = load.image
        guard asked.infoOnly, asked.wantsOriginal, asked.headers.isEmpty,
            !asked.storeCacheTypes.isEmpty
        else {
            throw ImageError(
                .invalidRequest, "bytes are put into some tier, as they are: no steps, no output")
        }
        var image = ImageRequest(url: "\(asked.url)?\(load.token.value.hex)")
        image.infoOnly = true
        image.options = [.fromLoaderOnly, .waitStoreCache]
        image.priority = asked.priority
        image.storeCacheTypes = asked.storeCacheTypes
        image.originalStoreCacheTypes = .none
        image.timeoutMilliseconds = asked.timeoutMilliseconds
        return image
    }

    private static let noKey = ImageError(
        .invalidRequest,
        "a cache key has 1 to \(MessageLimits.keyBytesMax) bytes and no control characters")

    /// What the operator is told where no tier took the bytes.
    static let notKept = ImageError(
        .arenaFull, "no tier took the bytes: there is no room for them, or no such tier")
}
