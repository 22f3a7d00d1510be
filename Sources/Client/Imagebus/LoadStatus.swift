public import ImageModel

/// Where a load stands.
public enum LoadStatus: Hashable, Sendable {
    /// It has not ended.
    case running
    /// It ended with an image, or with what is known of one.
    case loaded
    /// It ended well, and there is no image: a cache was asked that does not have it.
    case missed
    /// Somebody cancelled it.
    case cancelled
    /// It ended with another error.
    case failed(ErrorCode)

    init(_ result: Result<ImageResponse, ImageError>?) {
        switch result {
        case nil: self = .running
        case .success(let response): self = response.status == .ok ? .loaded : .missed
        case .failure(let error):
            self = error.code == .cancelled ? .cancelled : .failed(error.code)
        }
    }
}
