import ImageModel
import Messages

/// What callers tell the client's thread.
enum ClientOrder: Sendable {
    case load(LoadRequest, LoadTask)
    /// With the bytes that it brings along.
    case upload(LoadRequest, LoadTask, [UInt8])
    case cancel(Token)
    case cancelGroup(GroupID)
    case prefetch(PrefetchOrder, PrefetchTask)
    case reprioritise(Token, Priority)
    case reprioritiseGroup(GroupID, Priority)
    case release(BlockID)
    case cancelAny(Token)
    case cancelGroupOfAny(GroupID)
    case ask(Inquiry)
    /// Something was answered by vouchers: the coordinator is to be told.
    case tellUsed
    case close
    /// Nobody can begin anything any more: the line ends once nothing is pending.
    case endWhenIdle

    /// Tells whoever waits for it why nothing comes of it.
    func refuse(_ error: ImageError) {
        switch self {
        case .load(_, let task), .upload(_, let task, _): task.finish(.failure(error))
        case .prefetch(_, let task): task.finish(.failure(error))
        case .ask(let inquiry): inquiry.answer(.failure(error))
        case .cancel, .cancelGroup, .cancelAny, .cancelGroupOfAny, .release, .reprioritise,
            .reprioritiseGroup, .tellUsed, .close, .endWhenIdle:
            break
        }
    }
}
