import Model
import Testing

@testable import Coordinator

extension Stack {
    /// Fails the first assigned transfer.
    fileprivate mutating func failFirst() {
        guard let first = held(.fetch).first else { return fault("no transfer is held") }
        finish(first, .failed(ImageError(.invalidDownloadContentType, "no image")))
    }
}

/// Limits and suspension of transfers (SEMANTICS §10.17, §10.18).
struct TransferGateTests {
    private func stack(loads count: Int, _ limit: Int?) -> Stack {
        var stack = Stack()
        stack.hire(.download, credit: 8)
        stack.send(.transfersMax(limit))
        let client = stack.connect()
        for number in 0..<count {
            stack.load(.image("a\(number)", size: nil, .fromLoaderOnly), by: client)
        }
        return stack
    }

    @Test func noMoreRunThanTheConfigurationSays() {
        var stack = stack(loads: 6, 2)
        #expect(stack.held(.fetch).count == 2)
        stack.failFirst()
        #expect(stack.held(.fetch).count == 2, "the next one takes its slot")
        stack.send(.transfersMax(4))
        #expect(stack.held(.fetch).count == 4)
        stack.send(.transfersMax(1))
        #expect(stack.held(.fetch).count == 4, "running transfers continue")
        stack.failFirst()
        #expect(stack.held(.fetch).count == 3)
        stack.send(.transfersMax(nil))
        #expect(stack.held(.fetch).count == 4, "all that are left")
        #expect(stack.faults == [])
    }

    @Test func suspendedTransfersWait() {
        var stack = stack(loads: 2, 1)
        stack.send(.downloads(.suspend))
        #expect(stack.scheduler.dispatcher.transfers.isSuspended)
        stack.failFirst()
        #expect(stack.held(.fetch).isEmpty)
        #expect(stack.scheduler.dispatcher.waiting(in: .fetch).jobs == 1)
        stack.send(.downloads(.resume))
        #expect(stack.held(.fetch).count == 1)
        #expect(!stack.scheduler.dispatcher.transfers.isSuspended)
        #expect(stack.faults == [])
    }

    /// The error of a load that waited states the reason; a running transfer isn't waiting.
    @Test func aDeadlineSaysThatTransfersAreSuspended() throws {
        var stack = stack(loads: 2, 1)
        stack.send(.downloads(.suspend))
        stack.pass(milliseconds: 30_000)
        let messages = stack.replies.values.compactMap { replies -> String? in
            guard case .failure(let error)? = replies.last?.outcome else { return nil }
            return error.code == .deadlineExceeded ? error.message : nil
        }
        #expect(messages.count == 2)
        #expect(messages.count { $0.contains("imagebus downloads resume") } == 1)
    }
}
