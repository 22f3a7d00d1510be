import Dispatching
import ImageModel
import Messages

// Who would begin work that has to wait too long is told so at once, and when to come again
// (SEMANTICS §9.3). What is under way is never refused: others join it, and it goes on.
extension Scheduler {
    /// Why a result cannot be begun, if a stage is over its bound in which it would begin work.
    mutating func refusal(toMake name: ResultName, of order: Order) -> ImageError? {
        if order.plan.includes(.transform), let error = refusal(in: .transform) { return error }
        if order.plan.includes(.deliver), let error = refusal(in: .store) { return error }
        return order.canvas == nil ? refusal(toDecode: name.decode, of: order) : nil
    }

    /// The same of pixels.
    mutating func refusal(toDecode name: Sourced<DecodeKey>, of order: Order) -> ImageError? {
        guard decodeTable[name] == nil else { return nil }
        if let error = refusal(in: .decode) { return error }
        let bytes = Sourced(key: name.key.source, origin: name.origin)
        guard order.upload == nil, source(bytes) == nil else { return nil }
        return refusal(in: name.origin.isFetched ? .fetch : .query)
    }
}
