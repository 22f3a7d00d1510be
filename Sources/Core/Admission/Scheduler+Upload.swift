import Derivation
import Dispatching
import ImageModel
public import Messages
import Tables

// An image without a URL: its source is there before it is admitted.
extension Scheduler {
    /// The scheme of the names that uploads have instead of a URL, followed by the digest of the
    /// bytes; nothing can be fetched by such a name.
    public static let uploadScheme = "upload"

    /// The block is free again once the request, and all work that reads it, have ended.
    mutating func admitUpload(
        _ load: LoadRequest, of client: ClientID, _ terms: LoadTerms,
        _ reference: BlockReference, _ format: ImageFormat?
    ) {
        guard let upload = takeUpload(reference, format, of: load, client) else { return }
        guard load.image.context.extendedData == nil else {
            drop(upload.block)
            return refuse(load, of: client, .extendedDataOfNothing)
        }
        var load = load
        // A request for these bytes always brings them along: their original is not kept.
        load.image.originalQueryCacheTypes = .none
        load.image.originalStoreCacheTypes = .none
        admit(load, of: client, terms, upload: upload)
        drop(upload.block)
    }

    /// Bytes that came along, in use from now on.
    mutating func takeUpload(
        _ reference: BlockReference, _ format: ImageFormat?, of load: LoadRequest,
        _ client: ClientID
    ) -> Upload? {
        do throws(ImageError) {
            return try deriver.takeUpload(reference, as: format)
        } catch {
            refuse(load, of: client, error)
            return nil
        }
    }

    /// Answers a load that cannot be admitted. A live load that was sent again is not answered: its
    /// reply is still to come.
    mutating func refuse(_ load: LoadRequest, of client: ClientID, _ error: ImageError) {
        if !hasLive(load.token, of: client) { answerAtOnce(load, of: client, .failure(error)) }
    }

    /// Whether a request of that client under this token has no terminal reply yet.
    public func hasLive(_ token: Token, of client: ClientID) -> Bool {
        tokens[token].map { requests[$0].client == client } ?? false
    }
}

extension Upload {
    /// Refuses bytes that are more than the configuration permits.
    func check(_ limits: LimitSettings) throws(ImageError) {
        guard let limit = limits[.body], reference.length > UInt64(limit) else { return }
        throw ImageError(
            .limitExceeded,
            "the image has \(reference.length) bytes, and \(LimitSetting.body.rawValue) of the "
                + "configuration permits \(limit)",
            details: [
                "limit": "\(limit)", "value": "\(reference.length)", "permitted": "\(limit)",
                "setting": LimitSetting.body.rawValue,
            ])
    }
}
