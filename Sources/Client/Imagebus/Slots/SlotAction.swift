/// What the state of a slot has its surroundings do, in order.
enum SlotAction<Placeholder: Sendable>: Sendable {
    /// Begin the load.
    case start(SlotLoadID)
    /// Let go of a load that was begun, and cancel it if it has not ended. Each one once.
    case stop(SlotLoadID)
    /// Show something at the place of a key.
    case show(String, SlotChange<Placeholder>)
    /// Tell the caller of a load; the end is the last of it.
    case tell(SlotLoadID, SlotAnswer)
}

/// Numbers the loads of a slot; never used again.
struct SlotLoadID: Hashable, Sendable {
    let number: UInt64
}
