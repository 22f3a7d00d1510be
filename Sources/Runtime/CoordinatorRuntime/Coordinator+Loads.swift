import EventLoop
import Messages
import Wire
import ZeroMQ

// Several loads in one message (PROTOCOL §8.2).
extension Coordinator {
    /// Does with each what would be done with it alone, in order; hits are answered together. A
    /// fault of one is that of one load. Returns how many they were.
    mutating func receiveLoads(
        from sender: RoutingID, _ gateway: Gateway, at now: Instant
    ) throws(WireError) -> Int {
        // One answer is enough for a stranger.
        guard peers.id(at: gateway.listener, sender) != nil else {
            tell(.toClient(.helloRequired), sender, gateway)
            return 1
        }
        let count = try gateway.openBatch()
        var isNonsenseTold = false
        for place in 0..<count {
            gateway.turn(to: place)
            if answerAgain(sender, gateway, at: now) { continue }
            do throws(WireError) {
                try receive(.load, from: sender, gateway, at: now)
            } catch {
                // What is nobody's is refused once, however often it comes.
                let isNonsense = Self.token(of: error) == nil
                if !isNonsense || !isNonsenseTold {
                    refuse(error, .load, sender, gateway, at: now)
                }
                isNonsenseTold = isNonsenseTold || isNonsense
            }
            // It may have ended: a client that does not read loses its session.
            guard peers.id(at: gateway.listener, sender) != nil else { break }
        }
        return count
    }
}
