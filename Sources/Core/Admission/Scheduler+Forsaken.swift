import Tables

// Requests whose session is over.
extension Scheduler {
    /// Whether the request's session is over. A request that was not detached ends with it, in its
    /// turn.
    func isForsaken(_ id: LiveRequest.ID) -> Bool {
        requests[id].batch == nil && !requests[id].isDetached
            && !clients.keys.contains(requests[id].client)
    }
}
