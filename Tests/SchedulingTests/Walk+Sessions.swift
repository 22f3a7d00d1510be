import Model

@testable import Coordinator

extension Walk {
    /// Opens a session of a new client or of an earlier one, in one of two processes or an unknown
    /// one.
    mutating func connect() {
        guard stack.clients.count < 6 else { return }
        let earlier = stack.incarnations.keys.filter { !stack.clients.contains($0) }.sorted()
        _ = stack.connect(
            again: random.oneIn(2) ? pick(earlier) : nil,
            process: random.oneIn(2) ? Int32(draw(1...2)) : nil)
    }
}
