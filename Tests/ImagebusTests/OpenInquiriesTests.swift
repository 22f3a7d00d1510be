import Model
import Testing

@testable import Imagebus

/// How long an answer is awaited.
@Suite struct OpenInquiriesTests {
    private static let start = Instant(nanoseconds: 1_000_000_000)

    private static func later(_ seconds: Int) -> Instant {
        start.adding(milliseconds: 1_000 * seconds)
    }

    private static func command(_ action: EntryAction) -> ClientMessage {
        .cache(CacheCommand(number: 1, action: action, key: "", tiers: .all))
    }

    /// The error of an inquiry that is never answered; it is sent immediately if there is a
    /// session.
    private func end(
        of message: ClientMessage, isSent: Bool, _ look: (inout OpenInquiries) -> Void
    ) async -> ImageError? {
        let result: Result<ServerMessage, ImageError> = await withCheckedContinuation {
            continuation in
            var open = OpenInquiries(connectTimeoutMilliseconds: 5_000)
            let inquiry = Inquiry(message: message) { end in
                guard case .failure = end else { return false }
                continuation.resume(returning: end)
                return true
            }
            open.append(inquiry, isSent: isSent, at: Self.start)
            look(&open)
            #expect(open.isEmpty)
            open.close()
        }
        if case .failure(let error) = result { return error }
        return nil
    }

    @Test func anAnswerOfMomentsIsWaitedForAsLongAsAConnection() async {
        let error = await end(of: Self.command(.contains), isSent: true) { open in
            open.expire(at: Self.later(4))
            #expect(!open.isEmpty)
            open.expire(at: Self.later(5))
        }
        #expect(error?.code == .unavailable)
    }

    @Test(arguments: [EntryAction.trim, .count, .removeSelected, .clear])
    func allEntriesAreWaitedForWhileTheCoordinatorIsThere(action: EntryAction) async {
        let error = await end(of: Self.command(action), isSent: true) { open in
            open.expire(at: Self.later(3_600))
            #expect(!open.isEmpty)
            open.sessionEnded(at: Self.later(3_600))
            open.expire(at: Self.later(3_604))
            #expect(!open.isEmpty)
            open.expire(at: Self.later(3_605))
        }
        #expect(error?.code == .unavailable)
    }

    @Test func whereNobodyIsThereAllEndsAtOnce() async {
        let error = await end(of: Self.command(.trim), isSent: false) { open in
            open.expire(at: Self.later(4))
            #expect(!open.isEmpty)
            open.expire(at: Self.later(5))
        }
        #expect(error?.code == .unavailable)
    }

    @Test func aWelcomeBeginsTheLongWait() async {
        let error = await end(of: Self.command(.trim), isSent: false) { open in
            open.welcomed(at: Self.later(3))
            open.expire(at: Self.later(60))
            #expect(!open.isEmpty)
            open.expire(at: Self.later(4_000))
        }
        #expect(error?.code == .unavailable)
    }
}
