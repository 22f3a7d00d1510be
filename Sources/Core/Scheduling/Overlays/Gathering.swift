import ImageModel
import Messages

/// What a request has laid over its picture: fetched and decoded before the picture is, and kept
/// until the request ends.
struct Gathering: Sendable {
    /// One overlay.
    struct Place: Sendable {
        /// Its load, as it was admitted.
        let order: Order
        /// Where its pixels are, or will be.
        var decode: OverlaySeat?
        /// Whether the cache was asked for its original, or is not asked.
        var hasAskedCache: Bool
        /// Tiers that were asked for it, in vain.
        var missed = CacheTypes.none
    }

    var places: [Place]
}

/// A place among those who lay the pixels of a decode over their picture.
struct OverlaySeat: Sendable {
    let node: DecodeNode.ID
    let seat: WaiterList<OverlayTaker>.Seat
}

/// Who lays the pixels of a decode over a picture.
enum OverlayTaker: Hashable, Sendable {
    /// A request, by the number of the overlay.
    case request(LiveRequest.ID, Int)
    /// A result that is being made.
    case result(ResultNode.ID)
}

extension LoadTerms {
    /// Why the configuration does not let it be made, be it for one of its overlays: what it says
    /// now holds for what was made when it said something else.
    var firstRefusal: ImageError? {
        if let refusal { return refusal }
        for overlay in overlays {
            guard let refusal = overlay.terms.refusal else { continue }
            return ImageError.overlay(refusal, url: overlay.request.url)
        }
        return nil
    }
}

extension ImageError {
    /// Why a request fails whose overlay cannot be had. What says nothing of the overlay, but that
    /// the stack should be asked again, stays what it is.
    static func overlay(_ error: ImageError, url text: String) -> ImageError {
        guard error.code.admitsFallback else { return error }
        let url = try? SourceURL(text)
        var failure = ImageError(
            .stepFailed,
            "overlay: the picture to be laid over\(url.map { " at \($0.forLogs)" } ?? "") "
                + "cannot be had: \(error.code.rule.name)",
            details: ["step": "overlay", "overlay": error.code.rule.name])
        failure.message = String(failure.message.prefix(400))
        if let status = error.details["httpStatus"] { failure.details["httpStatus"] = status }
        return failure
    }
}
