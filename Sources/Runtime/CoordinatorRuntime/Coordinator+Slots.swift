import Admission
import ImageModel
import Messages

// Slots: what is on its way to one ends when another load comes into it (SEMANTICS §8.7).
extension Coordinator {
    /// A load comes into a slot: what is on its way to the slot, or brings its bytes along for it,
    /// ends before.
    mutating func leaveSlot(for load: LoadRequest, of client: ClientID, at now: Instant) {
        guard let slot = load.slot, !load.image.options.contains(.avoidAutoCancelImage) else {
            return
        }
        cancelPieces(of: client, at: now) { $0.slot == slot && $0.token != load.token }
        // Another load takes the slot when it is admitted, which is now.
        if load.uploadBytes > 0 { handle(.leaveSlot(client, slot: slot), at: now) }
    }
}
