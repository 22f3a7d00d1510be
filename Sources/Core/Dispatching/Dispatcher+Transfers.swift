import Messages

/// How many transfers may be at workers, all download pools together.
package struct TransferGate: Hashable, Sendable {
    /// At a time; `nil`: as many as workers take.
    package var heldMax: Int?
    /// Whether none may begin (SEMANTICS §10.17); those that run go on.
    package var isSuspended = false

    /// Whether one more may begin beside `held`.
    func isOpen(beside held: Int) -> Bool { !isSuspended && held < heldMax ?? .max }
}

extension Dispatcher {
    /// Whether one more job of the pool may be given out, as far as transfers are limited.
    func isOpen(_ pool: PoolID) -> Bool {
        guard limits.pools.kind(of: pool) == .download, transfers != TransferGate() else {
            return true
        }
        return transfers.isOpen(beside: credit(of: .download).held)
    }
}
