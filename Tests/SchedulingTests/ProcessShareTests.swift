import Model
import Testing

@testable import Coordinator

/// A process has one share, however many sessions it opens.
struct ProcessShareTests {
    private func image(_ name: String) -> ImageRequest {
        ImageRequest.image(name, size: nil, .fromLoaderOnly).with {
            $0.url = "http://\(name)/\(name).jpg"
        }
    }

    private func names(_ stack: Stack) -> [String] {
        stack.held(.fetch).compactMap {
            guard case .fetch(let work) = $0.job.work else { return nil }
            return String(work.url.split(separator: "/")[1])
        }
    }

    private func count(_ letter: String, _ stack: Stack) -> Int {
        names(stack).count { $0.hasPrefix(letter) }
    }

    @Test func sixtyFourSessionsOfOneProcessHoldThreeQuarters() {
        var stack = Stack()
        stack.hire(.download, credit: 128)
        for number in 0..<64 {
            let session = stack.connect(process: 7)
            for more in 0..<4 { stack.load(image("a\(number)-\(more)"), by: session) }
        }
        #expect(count("a", stack) == 96)
        let other = stack.connect(process: 8)
        for number in 0..<32 { stack.load(image("b\(number)"), by: other) }
        #expect(count("b", stack) == 24, "three quarters of the rest")
        #expect(stack.scheduler.audit() == [])
        #expect(stack.faults == [])
    }

    @Test func whoseProcessNobodyKnowsHasAShareOfItsOwn() {
        var stack = Stack()
        stack.hire(.download, credit: 16)
        let (first, second) = (stack.connect(), stack.connect())
        for number in 0..<30 { stack.load(image("a\(number)"), by: first) }
        for number in 0..<30 { stack.load(image("b\(number)"), by: second) }
        #expect(count("a", stack) == 12 && count("b", stack) == 3)
    }

    @Test func sessionsOfOneProcessKeepNobodyFromWorkThatTheyWantToo() {
        var stack = Stack()
        stack.hire(.download, credit: 16)
        let sessions = (0..<Flows.countMax).map { _ in stack.connect(process: 7) }
        for (number, session) in sessions.enumerated() {
            for more in 0..<8 { stack.load(image("a\(number)-\(more)"), by: session) }
        }
        for session in sessions { stack.load(image("x"), by: session) }
        #expect(count("a", stack) == 12 && count("x", stack) == 0)
        stack.load(image("x"), by: stack.connect(process: 8))
        #expect(count("x", stack) == 1, "a process without transfers gets the next free slot")
        #expect(stack.scheduler.audit() == [] && stack.faults == [])
    }

    @Test func sessionsOfAProcessShareItsShareEvenly() {
        var stack = Stack()
        stack.hire(.download, credit: 32)
        let (first, second) = (stack.connect(process: 7), stack.connect(process: 7))
        for number in 0..<60 { stack.load(image("a\(number)"), by: first) }
        for number in 0..<60 { stack.load(image("b\(number)"), by: second) }
        #expect(count("a", stack) == 24 && count("b", stack) == 0)
        // No transfer is canceled: slots change hands as transfers end.
        for held in stack.held(.fetch).prefix(20) {
            stack.finish(held, .failed(ImageError(.invalidDownloadContentType, "as told")))
        }
        #expect(abs(count("a", stack) - count("b", stack)) <= 2, "\(names(stack))")
        #expect(stack.scheduler.audit() == [])
        #expect(stack.faults == [])
    }

    @Test func theTransfersOfAHostAreSharedOutTheSameWay() {
        var stack = Stack { $0.dispatch.fetchesPerHostMax = 8 }
        stack.hire(.download, credit: 100)
        let slow = { (name: String) in
            self.image(name).with { $0.url = "http://slow/\(name).jpg" }
        }
        for number in 0..<8 {
            let session = stack.connect(process: 7)
            for more in 0..<2 { stack.load(slow("a\(number)-\(more)"), by: session) }
        }
        #expect(stack.held(.fetch).count == 6)
        stack.load(slow("b"), by: stack.connect(process: 8))
        #expect(stack.held(.fetch).count == 7)
        #expect(stack.faults == [])
    }

    /// Queued jobs are served in turns of processes, and within a process in turns of its sessions.
    @Test func processesTakeTurnsAndWithinThemSessionsDo() {
        var stack = Stack()
        for number in 0..<8 {
            let session = stack.connect(process: 7)
            for more in 0..<2 { stack.load(image("a\(number)\(more)"), by: session) }
        }
        let other = stack.connect(process: 8)
        for number in 0..<4 { stack.load(image("b\(number)"), by: other) }
        stack.hire(.download)
        var order: [String] = []
        while let held = stack.held(.fetch).first {
            order += names(stack)
            stack.finish(held, .failed(ImageError(.invalidDownloadContentType, "as told")))
        }
        #expect(order.prefix(8) == ["a00", "b0", "a10", "b1", "a20", "b2", "a30", "b3"])
        #expect(
            order.suffix(12).prefix(4) == ["a40", "a50", "a60", "a70"], "then the second of each")
        #expect(stack.isAtRest)
    }
}
