import Model
import Testing

@testable import Coordinator

/// How much evidence quarantines a suspect, and what voids it: an early success, time, or an
/// operator. After each of them the count restarts at zero.
@Suite struct EvidenceTests {
    private static let source = SourceKey(ImageRequest(url: "http://h/a.png"))
    private let suspect = Suspect.decode(EvidenceTests.source)
    private let start = Instant(nanoseconds: 1_000_000)

    /// A quarantine, and the numbers of its entries.
    private struct Court {
        var quarantine: Quarantine
        var numbers: UInt64 = 0

        init(entriesMax: Int = 64) {
            quarantine = Quarantine(entriesMax: entriesMax, milliseconds: 1_000)
        }

        /// Adds evidence. Returns whether the suspect is now quarantined.
        @discardableResult
        mutating func accuse(_ suspect: Suspect, _ evidence: Evidence, at now: Instant) -> Bool {
            quarantine.accuse(suspect, evidence, at: now, numbers: &numbers)
        }
    }

    private static let verdicts: [([Evidence], Bool)] = [
        ([.crash], false), ([.crash, .crash], true), ([.loss, .loss], true),
        ([.crash, .loss], true), ([.crash, .overrun], false),
        ([.overrun, .crash, .overrun], true),
        ([.overrun, .overrun, .overrun], false), ([.overrun, .overrun, .overrun, .overrun], true),
    ]

    @Test(arguments: verdicts.indices) func twoCrashesOrFourOverrunsAreEnough(index: Int) {
        let (evidence, isEnough) = Self.verdicts[index]
        var court = Court()
        for one in evidence.dropLast() {
            let isHeld = court.accuse(suspect, one, at: start)
            #expect(!isHeld)
        }
        for one in evidence.suffix(1) {
            let isHeld = court.accuse(suspect, one, at: start)
            #expect(isHeld == isEnough)
        }
        #expect(court.quarantine.holds(suspect, at: start) == isEnough)
        #expect(court.quarantine.count(at: start) == (isEnough ? 1 : 0))
    }

    @Test func aSuccessMakesWhatIsNotEnoughVoid() {
        var court = Court()
        court.accuse(suspect, .crash, at: start)
        court.accuse(suspect, .overrun, at: start)
        court.quarantine.acquit(suspect, at: start)
        #expect(court.quarantine.isEmpty)
        let isHeld = court.accuse(suspect, .crash, at: start)
        #expect(!isHeld, "it counts from nothing")
    }

    @Test func aSuccessMakesAQuarantineNotVoid() {
        var court = Court()
        for _ in 0..<2 { court.accuse(suspect, .crash, at: start) }
        court.quarantine.acquit(suspect, at: start)
        #expect(court.quarantine.holds(suspect, at: start))
    }

    /// Within ten percent, counted from the latest evidence.
    @Test func evidenceIsForgottenAfterItsTime() {
        var court = Court()
        court.accuse(suspect, .crash, at: start)
        let second = start.adding(milliseconds: 899)
        let isHeld = court.accuse(suspect, .crash, at: second)
        #expect(isHeld)
        #expect(court.quarantine.holds(suspect, at: second.adding(milliseconds: 899)))
        let late = second.adding(milliseconds: 1_101)
        #expect(!court.quarantine.holds(suspect, at: late))
        #expect(court.quarantine.count(at: late) == 0)
        let isHeldAgain = court.accuse(suspect, .crash, at: late)
        #expect(!isHeldAgain, "it counts from nothing")
    }

    @Test(arguments: [nil, "http://h/a.png"] as [String?])
    func anOperatorForgivesAllThatCounted(url: String?) {
        var court = Court()
        for _ in 0..<2 { court.accuse(suspect, .crash, at: start) }
        let count = court.quarantine.remove(url, at: start)
        #expect(count == 1)
        #expect(court.quarantine.isEmpty)
        let isHeld = court.accuse(suspect, .crash, at: start)
        #expect(!isHeld)
    }

    /// A drawing is quarantined by the evidence of four sizes; a success voids only the evidence of
    /// its own size.
    @Test func aSuccessTakesBackWhatItsSizeCountedAgainstTheDrawing() {
        func drawing(_ pixels: Int) -> Suspect { .drawing(Self.source, .area(pixels)) }
        var court = Court()
        for pixels in 1...3 { court.accuse(drawing(pixels), .crash, at: start) }
        court.quarantine.acquit(drawing(3), at: start)
        court.accuse(drawing(4), .crash, at: start)
        #expect(!court.quarantine.holds(drawing(9), at: start))
        court.accuse(drawing(5), .crash, at: start)
        #expect(court.quarantine.holds(drawing(9), at: start))
        #expect(court.quarantine.holds(.drawings(Self.source), at: start))
    }

    /// As many suspects as permitted are all remembered; one more evicts the oldest.
    @Test(arguments: [3, 4]) func theOldestSuspectMakesRoomBeyondTheLimit(count: Int) {
        func suspect(_ number: Int) -> Suspect {
            .decode(SourceKey(ImageRequest(url: "http://h/\(number).png")))
        }
        var court = Court(entriesMax: 3)
        for number in 1...count { court.accuse(suspect(number), .crash, at: start) }
        #expect(court.quarantine.suspects(suspect(1), at: start) == (count == 3))
        #expect(court.quarantine.suspects(suspect(2), at: start))
        let isHeld = court.accuse(suspect(count), .crash, at: start)
        #expect(isHeld)
    }
}
