import Derivation
import ImageModel
import Messages

extension ImageRequest {
    /// An image of one colour in the size of the result; it costs less than keeping it.
    func painting(_ canvas: Canvas) -> ImageRequest {
        var image = loading(fallback: "colour:\(canvas.colour)")
        image.thumbnail = nil
        image.steps = [.resize(canvas.size, .stretch)]
        image.options.remove(.fromCacheOnly)
        image.queryCacheTypes = .none
        image.storeCacheTypes = .none
        image.originalQueryCacheTypes = .none
        image.originalStoreCacheTypes = .none
        return image
    }
}
