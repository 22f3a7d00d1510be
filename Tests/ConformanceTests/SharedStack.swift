import StackKit
import TestKit
import Testing

/// One stack for all tests of a serialized suite. Each test leaves it idle and uses its own URLs.
struct SharedStack: SuiteTrait, TestScoping {
    @TaskLocal private static var lent: Lent?

    /// The stack of the running test.
    static var current: StackHarness {
        get throws {
            guard let lent else { throw StackFailure("no stack runs for this suite") }
            return lent.stack
        }
    }

    @concurrent func provideScope(
        for test: Test, testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        // An origin delayed by a test must not count as too slow, however slow the machine is.
        let arguments = ["--allow-private-networks", "--log-format", "json", "--low-speed", "0"]
        try await withStack(arguments, decoders: 1) { stack in
            try await Self.$lent.withValue(Lent(stack)) { try await function() }
        }
    }

    /// Sendable: the suite is serialized, so one test at a time has it.
    private struct Lent: @unchecked Sendable {
        let stack: StackHarness

        init(_ stack: StackHarness) { self.stack = stack }
    }
}

extension Trait where Self == SharedStack {
    /// A stack that is started before the first test of the suite and ends after the last one.
    static var sharedStack: SharedStack { SharedStack() }
}
