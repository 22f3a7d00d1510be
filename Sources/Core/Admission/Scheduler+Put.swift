import Derivation
import ImageModel
import Messages

// Bytes that an operator puts into a cache (SEMANTICS §5.7).
extension Scheduler {
    /// Reads the header of the bytes, so that only images are kept. Stores them like a fetched
    /// original: as they are, or as the profile's serializer makes them. The reply says which tiers
    /// have them.
    mutating func admitPut(
        _ load: LoadRequest, of client: ClientID, _ terms: LoadTerms, _ reference: BlockReference,
        _ format: ImageFormat?
    ) {
        guard var upload = takeUpload(reference, format, of: load, client) else { return }
        defer { drop(upload.block) }
        do throws(ImageError) {
            let image = try Self.request(putting: load)
            guard case .text(let key) = load.image.context.key else { throw Self.noKey }
            let text = try Self.storedText(of: key, in: terms.cache)
            try deriver.layout.check(text, bytesMax: MessageLimits.keyBytesMax)
            upload.key = key
            upload.extendedData = load.image.context.extendedData
            var (load, terms) = (load, terms)
            load.image = image
            // An operator wants these bytes under the key, or to hear why not.
            terms.fallback = .none
            terms.mayDownload = true
            // A put that is sent again is the one that is under way.
            if !hasLive(load.token, of: client) {
                deriver.endTranscodes(of: text, for: image.storeCacheTypes)
                takeEvents()
            }
            admit(load, of: client, terms, upload: upload)
        } catch {
            refuse(load, of: client, error)
        }
    }

    /// The operator chooses only the name of the bytes and their tiers. Each put is a source of its
    /// own: the same bytes may be put under several keys at once.
    private static func request(putting load: LoadRequest) throws(ImageError) -> ImageRequest {
        let asked = load.image
        guard asked.infoOnly, !asked.wantsFacts, asked.wantsOriginal, asked.headers.isEmpty,
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

    /// What the operator is told where no tier took the bytes.
    static let notKept = ImageError(
        .arenaFull, "no tier took the bytes: there is no room for them, or no such tier")
}
