import Admission
import Messages

extension Coordinator {
    /// A load that brings no bytes along.
    mutating func load(_ request: LoadRequest, for id: UInt64, _ gateway: Gateway, at now: Instant)
    {
        let client = ClientID(id)
        let inPieces = expectPieces(request, for: id, at: now)
        let resolved = resolve(request)
        handle(.load(client, resolved.load, resolved.terms), at: now)
        if !inPieces { learn(request, resolved, gateway) }
    }
}
