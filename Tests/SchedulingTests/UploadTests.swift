import Model
import Testing

@testable import Coordinator

struct UploadTests {
    @Test func bytesThatCameAlongAreDecodedAndNeverFetched() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let token = stack.upload("x", by: client) {
            $0.steps = [.flip(horizontal: true, vertical: false)]
        }
        stack.finishAll()
        #expect(stack.image(token) != nil)
        #expect(stack.gets.isEmpty)
        #expect(stack.counters.decodes == 1)
        // The result is stored; the uploaded bytes are not.
        #expect(stack.counters.stores == 1)
        #expect(stack.isAtRest, "\(stack.testDescription)")
    }

    @Test func theSameBytesWithTheSameStepsAreTheSameWork() {
        var stack = Stack()
        stack.hireAll()
        let (first, second) = (stack.connect(), stack.connect())
        let tokens = [
            stack.upload("x", by: first), stack.upload("x", by: second),
            stack.upload("y", by: second),
        ]
        stack.finishAll()
        #expect(tokens.allSatisfy { stack.image($0) != nil })
        #expect(stack.counters.decodes == 2)
        #expect(stack.isAtRest, "\(stack.testDescription)")
    }

    @Test func whatTheFirstBroughtIsHeldForThoseWhoShareItsWork() {
        var stack = Stack()
        stack.hireAll()
        let (first, second) = (stack.connect(), stack.connect())
        let gone = stack.upload("x", by: first)
        stack.finish(stack.held(.query)[0], .miss)
        let stays = stack.upload("x", by: second)
        stack.send(.cancel(first, gone))
        // The decoder is lost: the work restarts with the remaining time.
        stack.kill(stack.worker(.decode))
        stack.hire(.decode)
        stack.finishAll()
        #expect(stack.image(stays) != nil)
        #expect(stack.isAtRest, "\(stack.testDescription)")
    }

    @Test func theBlockIsFreeWhereTheRequestIsRefused() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        let token = stack.upload("x", by: client) { $0.timeoutMilliseconds = 0 }
        #expect(stack.error(token) == .invalidRequest)
        #expect(stack.isAtRest, "\(stack.testDescription)")
    }

    @Test func nobodyLoadsByTheNameOfAnUpload() {
        var stack = Stack()
        stack.hireAll()
        let client = stack.connect()
        stack.upload("x", by: client)
        stack.finishAll()
        let token = stack.load(ImageRequest(url: "upload:x"), by: client)
        #expect(stack.error(token) == .unsupportedScheme)
    }

    @Test func onlyTheCoordinatorIsItsOwnProducer() {
        var stack = Stack()
        stack.send(
            .workerJoined(
                WorkerID(77), kind: .coordinator,
                incarnation: Incarnation(Identifier128(high: 1, low: 1)), credit: 1))
        #expect(stack.expelled.map(\.0) == [WorkerID(77)])
    }
}
