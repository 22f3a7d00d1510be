import EventLoop
import Messages
import Wire
import ZeroMQ

// Several loads in one message (PROTOCOL §8.2).
extension Coordinator {
    /// Does with each what would be done with it alone, in order; hits are answered together. A
    /// fault of one is that of one load.
    mutating func receiveLoads(
        from sender: RoutingID, _ gateway: Gateway, at now: Instant
    ) throws(WireError) {
        // One answer is enough for a stranger.
        guard peers.id(at: gateway.listener, sender) != nil else {
            return tell(.toClient(.helloRequired), sender, gateway)
        }
        let count = try gateway.openBatch()
        for place in 0..<count {
            gateway.turn(to: place)
            if answerAgain(sender, gateway, at: now) { continue }
            do throws(WireError) {
                try receive(.load, from: sender, gateway, at: now)
            } catch {
                refuse(error, .load, sender, gateway, at: now)
            }
        }
    }
}
