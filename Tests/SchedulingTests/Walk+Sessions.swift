import Messages

@testable import Admission

extension Walk {
    /// A session of a new client or of one that was there before, in one of two processes or where
    /// nobody knows which.
    mutating func connect() {
        guard stack.clients.count < 6 else { return }
        let earlier = stack.incarnations.keys.filter { !stack.clients.contains($0) }.sorted()
        _ = stack.connect(
            again: random.oneIn(2) ? pick(earlier) : nil,
            process: random.oneIn(2) ? Int32(draw(1...2)) : nil)
    }
}
