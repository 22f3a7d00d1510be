import ImageModel
import Messages

/// What became of the image of a request that goes on with its fallback.
struct FallenBack: Sendable {
    /// Why the image cannot be had.
    let error: ImageError
    /// The image's URL, for the log.
    let url: String

    /// How the request ends when its fallback ended so. Where the fallback fails as well, the
    /// caller hears the error of the image, unless the request was cancelled.
    func outcome(of fallback: Reply.Outcome) -> Reply.Outcome {
        switch fallback {
        case .image(var image):
            image.fallbackFor = error
            return .image(image)
        case .failure(let second) where second.code == .cancelled: return fallback
        case .failure(let second): return .failure(failed(with: second.code.rule.name))
        case .miss: return .failure(failed(with: "miss"))
        case .notModified: return fallback
        }
    }

    private func failed(with reason: String) -> ImageError {
        var error = error
        error.details["fallback"] = reason
        return error
    }
}
