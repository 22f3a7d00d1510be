import Derivation
import ImageModel

extension LoadTerms {
    /// Why the configuration does not permit the request, or one of its overlays. The configuration
    /// of now counts, also for images that were made under an earlier one.
    var firstRefusal: ImageError? {
        if let refusal { return refusal }
        for overlay in overlays {
            guard let refusal = overlay.terms.refusal else { continue }
            return ImageError.overlay(refusal, url: overlay.request.url)
        }
        return nil
    }
}
