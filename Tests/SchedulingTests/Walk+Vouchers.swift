import Model
import TestKit

@testable import Coordinator

// Answers that clients may repeat by themselves.
extension Walk {
    /// Grants vouchers for some images in memory; occasionally changes the configuration.
    mutating func stepAside() {
        swap(&random, &side)
        if random.oneIn(6) { vouch() }
        if random.oneIn(2_000) { stack.scheduler.reconfigured() }
        if random.oneIn(30) { hireForSteps() }
        swap(&random, &side)
    }

    /// Sends a client an answer that it may repeat.
    private mutating func vouch() {
        let image = request()
        let load = LoadRequest(token: Token(Identifier128(high: 8, low: 8)), image: image)
        guard var ticket = stack.scheduler.hitTicket(for: load, terms(of: image)) else { return }
        stack.scheduler.hits.vouch(for: &ticket)
        vouched.append(ticket)
        if vouched.count > 200 { vouched.removeFirst(100) }
    }

    /// Answers that a client would repeat although the scheduler would no longer give them.
    var forgottenWithdrawals: [String] {
        let hits = stack.scheduler.hits
        return vouched.filter {
            hits.isRepeated($0, at: stack.now) && !hits.stands($0.unvouched, at: stack.now)
        }.map { "\($0.image.key) would be repeated" }
    }
}
