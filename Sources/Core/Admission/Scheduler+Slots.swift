import ImageModel
import Messages

// Slots: what an image is for, such as a place on a page, wants one image at a time
// (SEMANTICS §8.7).
extension Scheduler {
    /// Whoever loads into a slot wants what it wanted there before no more, unless it says so. That
    /// is so whatever becomes of the new load; its reply comes after that of the old one.
    mutating func supersede(by load: LoadRequest, of client: ClientID) {
        guard let slot = load.slot, !load.image.options.contains(.avoidAutoCancelImage) else {
            return
        }
        endSlot(slot, of: client)
    }

    /// Ends the request of a slot.
    mutating func endSlot(_ slot: String, of client: ClientID) {
        if let id = clients[client]?.slots[slot] { end(id, Self.cancelled) }
    }
}

extension LoadRequest {
    /// Throws what is wrong with the name of its slot.
    func checkSlot() throws(ImageError) {
        try RequestContext.check(name: slot, "slot")
    }
}
