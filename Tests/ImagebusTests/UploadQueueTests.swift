import Model
import TestKit
import Testing

@testable import Imagebus

private let group = GroupID(Identifier128(high: 1, low: 1))
private let chunkBytes = MessageLimits.chunkBytesMax

/// An upload whose bytes all equal its number.
private func load(_ number: UInt64, _ count: Int, group: GroupID? = nil) -> PendingLoad {
    PendingLoad(
        LoadRequest(token: token(number), group: group, image: ImageRequest(url: "")),
        bytes: [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: count))
}

extension UploadQueue {
    fileprivate mutating func begin(_ number: UInt64, _ count: Int, group: GroupID? = nil) {
        #expect(start(load(number, count, group: group)) == true)
    }

    /// Sends everything that may be sent; returns loads and chunks by the number of their token.
    fileprivate mutating func sendAll() -> [String] {
        var sent: [String] = []
        while let step = next, let message = message(step) {
            self.sent(step)
            switch message {
            case .load(let load): sent.append("load \(load.token.value.low)")
            case .chunk(let chunk):
                sent.append("\(chunk.token.value.low)@\(chunk.offset)+\(chunk.bytes.count)")
            default: Issue.record("no message of an upload: \(message)")
            }
        }
        return sent
    }
}

@Suite struct UploadQueueTests {
    private func begun(window: Int = 4 << 20) -> UploadQueue {
        var uploads = UploadQueue()
        uploads.sessionBegan(window: window)
        return uploads
    }

    @Test func thePiecesFollowTheirLoadInOrder() {
        var uploads = begun()
        uploads.begin(1, chunkBytes + 5)
        #expect(uploads.sendAll() == ["load 1", "1@0+\(chunkBytes)", "1@\(chunkBytes)+5"])
        #expect(uploads.inFlight == chunkBytes + 5)
        uploads.acknowledged(UInt64(chunkBytes + 5))
        #expect(uploads.inFlight == 0)
    }

    /// Each removal visits only a few queue entries.
    @Test(arguments: [true, false]) func thousandsThatWaitEndInFewSteps(asAGroup: Bool) {
        let count: UInt64 = 20_000
        var uploads = begun()
        for number in 1...count { uploads.begin(number, 1, group: group) }
        if asAGroup {
            #expect(uploads.stop(group: group).map(\.value.low) == Array(1...count))
        } else {
            for number in (1...count).reversed() { uploads.drop(token(number)) }
        }
        #expect(uploads.next == nil)
        #expect(uploads.visitCount <= 40 * Int(count), "\(uploads.visitCount)")
    }

    @Test func theWindowHoldsForAllTogetherAndTheyTakeTurns() {
        var uploads = begun(window: 4 * chunkBytes)
        for number in 1...3 as ClosedRange<UInt64> { uploads.begin(number, 3 * chunkBytes) }
        let first = uploads.sendAll()
        #expect(first.prefix(3) == ["load 1", "load 2", "load 3"])
        #expect(first.dropFirst(3).map { $0.first } == ["1", "2", "3", "1"])
        uploads.acknowledged(UInt64(2 * chunkBytes))
        #expect(uploads.sendAll().map { $0.first } == ["2", "3"])
    }

    @Test func aNewSessionGetsLoadAndPiecesFromTheStart() {
        var uploads = begun(window: chunkBytes)
        uploads.begin(1, 3 * chunkBytes)
        #expect(uploads.sendAll() == ["load 1", "1@0+\(chunkBytes)"])
        uploads.sessionEnded()
        #expect(uploads.next == nil)
        #expect(uploads.start(load(1, 3 * chunkBytes)) == false, "there is no session")
        uploads.sessionBegan(window: 4 << 20)
        #expect(uploads.next == nil, "not before the load is sent again")
        #expect(uploads.start(load(1, 3 * chunkBytes)) == true)
        #expect(uploads.sendAll().count == 4)
    }

    @Test func aLoadThatIsAskedForAgainBringsItsBytesAgain() {
        var uploads = begun()
        uploads.begin(1, 5)
        #expect(uploads.sendAll() == ["load 1", "1@0+5"])
        #expect(uploads.start(load(1, 5)) == true)
        #expect(uploads.sendAll() == ["load 1", "1@0+5"])
    }

    @Test func whatIsCancelledOrHasEndedIsSentNoFurther() {
        var uploads = begun(window: chunkBytes)
        for number in 1...4 as ClosedRange<UInt64> {
            uploads.begin(number, 2 * chunkBytes, group: number == 3 ? group : nil)
        }
        _ = uploads.sendAll()
        let wasUnsent = uploads.stop(token(1))
        #expect(!wasUnsent)
        #expect(uploads.stop(group: group) == [])
        uploads.drop(token(4))
        uploads.acknowledged(UInt64(chunkBytes))
        #expect(uploads.sendAll() == ["2@0+\(chunkBytes)"])
        uploads.acknowledged(UInt64(chunkBytes))
        #expect(uploads.sendAll() == ["2@\(chunkBytes)+\(chunkBytes)"])
    }

    /// The coordinator reserves space for announced uploads, so the rest waits here.
    @Test func fewUploadsAreUnderWayAtOnceAndTheOthersFollow() {
        var uploads = begun(window: 1)
        for number in 1...40 as ClosedRange<UInt64> { uploads.begin(number, 2, group: group) }
        #expect(uploads.sendAll().filter { $0.hasPrefix("load") }.count == 32)
        let unsent = uploads.stop(token(40))
        #expect(unsent, "its load was not sent")
        #expect(uploads.stop(group: group).map(\.value.low) == Array(33...39))
        #expect(uploads.next == nil)
    }

    @Test func largeUploadsWaitForOneAnother() {
        var uploads = begun(window: chunkBytes)
        uploads.begin(1, 70 << 20)
        uploads.begin(2, 1)
        #expect(uploads.sendAll().first == "load 1")
        uploads.drop(token(1))
        uploads.acknowledged(UInt64(chunkBytes))
        #expect(uploads.sendAll() == ["load 2", "2@0+1"])
    }

    @Test func aCoordinatorWithoutPiecesTakesNone() {
        var uploads = begun(window: 0)
        #expect(uploads.start(load(1, 1)) == false)
    }

    @Test func moreThanWasSentCannotBeTaken() {
        var uploads = begun(window: chunkBytes)
        uploads.begin(1, 2 * chunkBytes)
        _ = uploads.sendAll()
        uploads.acknowledged(.max)
        #expect(uploads.inFlight == 0)
        #expect(uploads.sendAll().count == 1)
    }

    /// Uploads start, are canceled, end, and lose their session; each one that neither was
    /// canceled nor ended arrives complete, in order, and within the window.
    @Test(arguments: 0..<60 as Range<UInt64>)
    func aWalkNeverLosesAByteNorTheWindow(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var walk = UploadWalk(window: Int.random(in: 20_000...200_000, using: &random))
        for _ in 0..<400 { try walk.step(&random) }
        try walk.finish()
    }
}

/// The queue and a coordinator that validates everything.
private struct UploadWalk {
    var uploads = UploadQueue()
    let window: Int
    var open: [UInt64: PendingLoad] = [:]
    var received: [UInt64: Int] = [:]
    var unacknowledged = 0
    var last: UInt64 = 0

    init(window: Int) {
        self.window = window
        uploads.sessionBegan(window: window)
    }

    mutating func step(_ random: inout SeededGenerator) throws {
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<4: begin(Int.random(in: 1...150_000, using: &random))
        case 4:
            if let number = open.keys.sorted().randomElement(using: &random) { end(number) }
        case 5 where Int.random(in: 0..<5, using: &random) == 0: loseSession()
        case 6..<10: acknowledge()
        default: try send()
        }
    }

    mutating func begin(_ count: Int) {
        last += 1
        let upload = load(last, count)
        #expect(uploads.start(upload) == true)
        open[last] = upload
    }

    mutating func end(_ number: UInt64) {
        _ = uploads.stop(token(number))
        uploads.drop(token(number))
        open[number] = nil
        received[number] = nil
    }

    mutating func loseSession() {
        uploads.sessionEnded()
        #expect(uploads.next == nil)
        (received, unacknowledged) = ([:], 0)
        uploads.sessionBegan(window: window)
        for upload in open.values { #expect(uploads.start(upload) == true) }
    }

    mutating func acknowledge() {
        uploads.acknowledged(UInt64(unacknowledged))
        unacknowledged = 0
    }

    /// Whether something was sent.
    @discardableResult
    mutating func send() throws -> Bool {
        guard let step = uploads.next else { return false }
        let message = try #require(uploads.message(step))
        uploads.sent(step)
        switch message {
        case .load(let load):
            let number = load.token.value.low
            #expect(open[number] != nil)
            #expect(received.updateValue(0, forKey: number) == nil, "a load is sent once")
        case .chunk(let chunk):
            let number = chunk.token.value.low
            #expect(received[number] == Int(chunk.offset))
            #expect(Int(chunk.total) == open[number]?.bytes.count)
            let mark = UInt8(truncatingIfNeeded: number)
            #expect(chunk.bytes.first == mark && chunk.bytes.last == mark)
            received[number] = Int(chunk.offset) + chunk.bytes.count
            unacknowledged += chunk.bytes.count
            #expect(unacknowledged <= window)
        default: Issue.record("no message of an upload: \(message)")
        }
        return true
    }

    mutating func finish() throws {
        repeat { acknowledge() } while try send()
        for (number, upload) in open {
            #expect(received[number] == upload.bytes.count, "upload \(number) is not whole")
        }
    }
}
