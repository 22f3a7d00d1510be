import Derivation
import ImageModel

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
