import ImageModel
import Messages

// A slot names what an image is for, such as a place on a page. It wants one image at a time
// (SEMANTICS §8.7).
extension Scheduler {
    /// A load into a slot ends the older load there, unless it says otherwise. It does so whatever
    /// becomes of itself. Its reply comes after that of the older one.
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
    /// Throws what is wrong with the name of the slot.
    func checkSlot() throws(ImageError) {
        try RequestContext.check(name: slot, "slot")
    }
}
