import ImageModel
import Messages

/// What callers tell the client's thread.
enum ClientOrder: Sendable {
    case load(PendingLoad)
    /// With the bytes that it brings along.
    case upload(PendingLoad, [UInt8])
    case cancel(Token)
    case cancelGroup(GroupID)
    indirect case prefetch(PrefetchOrder, PrefetchTask)
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
        case .load(let load), .upload(let load, _): load.task.finish(.failure(error))
        case .prefetch(_, let task): task.finish(.failure(error))
        case .ask(let inquiry): inquiry.answer(.failure(error))
        case .cancel, .cancelGroup, .cancelAny, .cancelGroupOfAny, .release, .reprioritise,
            .reprioritiseGroup, .tellUsed, .close, .endWhenIdle:
            break
        }
    }
}
