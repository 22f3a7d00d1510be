import ImageModel
import Messages
import SharedArena

// What is given again without asking (SEMANTICS §5.24).
extension ClientLine {
    /// Milliseconds for which uses are collected.
    private static let usedMilliseconds = 100
    /// Milliseconds between two looks for segments that were given up.
    private static let lookMilliseconds = 10_000

    /// Keeps an answer that may be given again, and adds its voucher to the response.
    mutating func learn(
        _ answer: DeliveredAnswer, _ load: PendingLoad, _ response: inout ImageResponse,
        at now: Instant
    ) {
        guard configuration.repeatsAnswers, let voucher = answer.voucher,
            load.mayBeRepeated
        else { return }
        let reference = answer.reference
        let segment = reference.flatMap { try? results.segment(of: $0) }
        nextLook = nextLook ?? now.adding(milliseconds: Self.lookMilliseconds)
        response.voucher = answers.learn(
            load.image, response.account, voucher, reference, in: segment)
    }

    /// Something was used: that is told soon, or at once where there is much.
    mutating func expectUsed(at now: Instant) {
        guard !answers.uses.isFull else { return tellUsed() }
        usedDue = usedDue ?? now.adding(milliseconds: Self.usedMilliseconds)
    }

    /// What is to be done at its time.
    mutating func lookAfterAnswers(at now: Instant) {
        if let due = usedDue, due <= now { tellUsed() }
        if let look = nextLook, look <= now {
            answers.forgetUnlinked()
            nextLook = answers.hasAnswers ? now.adding(milliseconds: Self.lookMilliseconds) : nil
        }
    }

    /// Without a session it is lost: the next coordinator knows nothing of these answers.
    mutating func tellUsed() {
        usedDue = nil
        guard let used = answers.uses.take(), isWelcome else { return }
        outbox.append(.other(.used(used)))
    }
}
