import Model
import TestKit
import Testing

@testable import Imagebus

private func chunk(_ offset: Int, _ bytes: [UInt8], of total: Int, token number: UInt64 = 1)
    -> Chunk
{
    Chunk(token: token(number), offset: UInt64(offset), total: UInt64(total), bytes: bytes)
}

/// The error when handling a chunk; nil if it is accepted.
private func failure(_ chunks: inout IncomingChunks, _ chunk: Chunk) -> ErrorCode? {
    do throws(ImageError) {
        try chunks.receive(chunk, isWanted: true)
        return nil
    } catch {
        return error.code
    }
}

private func begun(bytesMax: Int = 1 << 20, window: Int = 4 << 20) -> IncomingChunks {
    var chunks = IncomingChunks(bytesMax: bytesMax)
    chunks.sessionBegan(window: window)
    return chunks
}

@Suite struct IncomingChunksTests {
    @Test func piecesInOrderAreTheImage() throws {
        var chunks = begun()
        try chunks.receive(chunk(0, [1, 2], of: 5), isWanted: true)
        try chunks.receive(chunk(2, [3], of: 5), isWanted: true)
        try chunks.receive(chunk(3, [4, 5], of: 5), isWanted: true)
        #expect(try chunks.finish(token(1), count: 5) == [1, 2, 3, 4, 5])
        #expect(chunks.isEmpty)
    }

    @Test(arguments: [
        chunk(3, [4], of: 5), chunk(1, [2], of: 5), chunk(2, [3], of: 6), chunk(2, [3], of: 4),
    ])
    func aGapAnOverlapAndAnotherTotalBreakTheProtocol(_ wrong: Chunk) throws {
        var chunks = begun()
        try chunks.receive(chunk(0, [1, 2], of: 5), isWanted: true)
        #expect(failure(&chunks, wrong) == .protocolViolation)
        #expect(chunks.isEmpty, "its chunks are dropped")
    }

    @Test func aFirstPieceThatDoesNotBeginIsAGap() {
        var chunks = begun()
        #expect(failure(&chunks, chunk(2, [3], of: 5)) == .protocolViolation)
    }

    @Test func offsetZeroBeginsAnewAlsoWithAnotherTotal() throws {
        var chunks = begun()
        try chunks.receive(chunk(0, [9, 9, 9], of: 5), isWanted: true)
        try chunks.receive(chunk(0, [1, 2], of: 3), isWanted: true)
        try chunks.receive(chunk(2, [3], of: 3), isWanted: true)
        #expect(try chunks.finish(token(1), count: 3) == [1, 2, 3])
    }

    @Test func whatIsTooLargeIsNotBegun() {
        var chunks = begun(bytesMax: 10)
        #expect(failure(&chunks, chunk(0, [1], of: 10)) == nil)
        #expect(failure(&chunks, chunk(0, [1], of: 11, token: 2)) == .limitExceeded)
    }

    @Test func aReplyThatSaysMoreOrFewerBytesIsNotBelieved() throws {
        for count: UInt64 in [0, 1, 3] {
            var chunks = begun()
            try chunks.receive(chunk(0, [1, 2], of: 2), isWanted: true)
            #expect(throws: ImageError.self) { try chunks.finish(token(1), count: count) }
        }
        var nothing = begun()
        #expect(throws: ImageError.self) { try nothing.finish(token(1), count: 1) }
    }

    /// Announcing much and sending little allocates no memory.
    @Test func memoryGrowsByWhatArrives() throws {
        var assembly = ChunkAssembly()
        let part = [UInt8](repeating: 7, count: 1_000)
        for index in 0..<64 {
            try assembly.append(
                chunk(index * 1_000, part, of: 1 << 30), bytesMax: 1 << 30)
            #expect(assembly.bytes.capacity <= 2 * (index + 1) * 1_000 + 64)
        }
    }

    @Test func halfOfTheWindowAndTheLastPieceAreSaidToBeTaken() throws {
        var chunks = begun(window: 1_000_000)
        let part = [UInt8](repeating: 1, count: 50_000)
        for index in 0..<9 {
            try chunks.receive(chunk(index * 50_000, part, of: 600_000), isWanted: true)
            #expect(chunks.acknowledgement() == nil)
        }
        try chunks.receive(chunk(450_000, part, of: 600_000), isWanted: true)
        #expect(chunks.acknowledgement() == 500_000)
        #expect(chunks.acknowledgement() == nil)
        try chunks.receive(chunk(500_000, part, of: 600_000), isWanted: true)
        #expect(chunks.acknowledgement() == nil)
        try chunks.receive(chunk(550_000, part, of: 600_000), isWanted: true)
        #expect(chunks.acknowledgement() == 100_000, "it has all its pieces")
    }

    @Test func whatNobodyWaitsForIsTakenAndDropped() throws {
        var chunks = begun()
        try chunks.receive(chunk(7, [1, 2, 3], of: 10), isWanted: false)
        #expect(chunks.isEmpty)
        try chunks.receive(chunk(0, [1], of: 1), isWanted: false)
        #expect(chunks.acknowledgement() == 4)
    }

    @Test func aNewSessionOwesNothing() throws {
        var chunks = begun()
        try chunks.receive(chunk(0, [1], of: 2), isWanted: true)
        chunks.sessionEnded()
        #expect(chunks.isEmpty)
        chunks.sessionBegan(window: 4 << 20)
        try chunks.receive(chunk(0, [1, 2], of: 2), isWanted: true)
        #expect(chunks.acknowledgement() == 2)
    }

    /// A sender that respects the window never blocks forever, whatever the window size, and every
    /// image arrives, whatever is restarted or dropped in between.
    @Test(arguments: 0..<40 as Range<UInt64>)
    func everyImageArrivesWithinAnyWindow(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let window = Int.random(in: MessageLimits.chunkBytesMax...300_000, using: &random)
        var chunks = begun(bytesMax: 1 << 30, window: window)
        var open: [UInt64: (image: [UInt8], offset: Int)] = [:]
        for number in 1...6 as ClosedRange<UInt64> {
            let count = Int.random(in: 1...400_000, using: &random)
            open[number] = ([UInt8](repeating: UInt8(number), count: count), 0)
        }
        var onTheWay = 0
        while let number = open.keys.sorted().randomElement(using: &random),
            let upload = open[number]
        {
            if Int.random(in: 0..<50, using: &random) == 0 { open[number]?.offset = 0 }
            let offset = open[number]?.offset ?? upload.offset
            let end = min(upload.image.count, offset + MessageLimits.chunkBytesMax)
            let bytes = Array(upload.image[offset..<end])
            try #require(onTheWay + bytes.count <= window, "nothing further is acknowledged")
            onTheWay += bytes.count
            let isWanted = number != 6
            try chunks.receive(
                chunk(offset, bytes, of: upload.image.count, token: number), isWanted: isWanted)
            onTheWay -= Int(chunks.acknowledgement() ?? 0)
            open[number]?.offset = end
            guard end == upload.image.count else { continue }
            open[number] = nil
            if isWanted {
                let image = try chunks.finish(token(number), count: UInt64(end))
                #expect(image == upload.image)
            }
        }
        #expect(chunks.isEmpty)
    }
}
