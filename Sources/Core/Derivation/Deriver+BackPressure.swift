import Dispatching
import ImageModel
import Messages

// A request that would begin work which has to wait too long is refused at once, and told when to
// come again (SEMANTICS §9.3). Work that is under way is never refused: requests may join it, and
// it goes on.
extension Deriver {
    /// Why a result cannot be begun: a stage that it needs is over its bound, or such work killed
    /// workers.
    mutating func refusal(toMake name: ResultName, of order: Order) -> ImageError? {
        if order.plan.includes(.transform), let error = dispatcher.refusal(in: .transform) {
            return error
        }
        if order.plan.includes(.deliver), let error = dispatcher.refusal(in: .store) {
            return error
        }
        if order.canvas == nil, let error = refusal(toDecode: name.decode, of: order) {
            return error
        }
        return isPoisoned(name) ? Dispatcher.poisoned : nil
    }

    /// The same of pixels.
    mutating func refusal(toDecode name: Sourced<DecodeKey>, of order: Order) -> ImageError? {
        guard decodes.first(under: name) == nil else { return nil }
        if let error = dispatcher.refusal(in: .decode) { return error }
        let bytes = Sourced(key: name.key.source, origin: name.origin)
        guard order.upload == nil, sources.serving(bytes) == nil else { return nil }
        return dispatcher.refusal(in: name.origin.isFetched ? .fetch : .query)
    }
}
