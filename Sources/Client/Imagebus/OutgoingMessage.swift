import Messages

/// What goes to the coordinator next.
enum OutgoingMessage {
    /// A load as it is when it goes.
    case load(PendingLoad)
    indirect case other(ClientMessage)

    var isLoad: Bool { if case .load = self { true } else { false } }
}
