import Model
import Testing

@testable import Coordinator

struct UploadSessionsTests {
    /// An output space on the heap, with a limit.
    private final class Space: OutputSpace {
        private let bytesMax: Int
        /// Block sizes are multiples of it.
        private let unit: Int
        nonisolated(unsafe) private(set) var live: [BlockID: UnsafeMutableRawBufferPointer] = [:]

        init(bytesMax: Int = 1 << 20, unit: Int = 1) {
            (self.bytesMax, self.unit) = (bytesMax, unit)
        }

        func reserve(_ bytes: Int) throws(ImageError) -> OutputBlock {
            let bytes = (bytes + unit - 1) / unit * unit
            let used = live.values.map(\.count).reduce(0, +)
            guard used + bytes <= bytesMax else { throw ImageError(.arenaFull, "full") }
            let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes, alignment: 64)
            let id = BlockID(UInt64(bitPattern: Int64(Int(bitPattern: memory.baseAddress))))
            live[id] = memory
            return OutputBlock(id: id, arena: .stage, segment: 1, offset: 64, bytes: memory)
        }

        func discard(_ block: OutputBlock) { live.removeValue(forKey: block.id)?.deallocate() }
    }

    private static let start = Instant(nanoseconds: 0)
    private let client = ClientID(1)

    private func load(_ number: UInt64 = 1, bytes: UInt64, url: String = "") -> LoadRequest {
        LoadRequest(
            token: Token(Identifier128(high: 0, low: number)), image: ImageRequest(url: url),
            uploadBytes: bytes)
    }

    private func chunk(
        _ number: UInt64 = 1, at offset: UInt64, _ bytes: [UInt8], total: UInt64
    ) -> Chunk {
        Chunk(
            token: Token(Identifier128(high: 0, low: number)), offset: offset, total: total,
            bytes: bytes)
    }

    @Test func piecesInOrderMakeTheWhole() throws {
        let space = Space()
        var sessions = UploadSessions(space: space, bytesMax: 1_000_000)
        try sessions.begin(load(bytes: 5), of: client, bytesMax: 10, at: Self.start)
        let part = try sessions.receive(chunk(at: 0, [1, 2], total: 5), of: client, at: Self.start)
        #expect(part == nil)
        let whole = try sessions.receive(
            chunk(at: 2, [3, 4, 5], total: 5), of: client, at: Self.start)
        let upload = try #require(whole)
        #expect(Array(upload.block.bytes) == [1, 2, 3, 4, 5])
        // All chunks have arrived, so the client is notified at once.
        let acknowledged = sessions.dueAcknowledgment(of: client)
        #expect(acknowledged == 5)
        #expect(sessions.nextDeadline == nil)
        space.discard(upload.block)
    }

    @Test(arguments: [(1, [1] as [UInt8], 5), (0, [1], 6), (0, [1, 2, 3, 4, 5, 6], 6)])
    func whatDoesNotFollowIsRefused(offset: UInt64, bytes: [UInt8], total: UInt64) throws {
        var sessions = UploadSessions(space: Space(), bytesMax: 1_000_000)
        try sessions.begin(load(bytes: 5), of: client, bytesMax: 10, at: Self.start)
        let wrong = chunk(at: offset, bytes, total: total)
        #expect(throws: ImageError.self) { try sessions.receive(wrong, of: client, at: Self.start) }
    }

    @Test func limitsAreKept() throws {
        var sessions = UploadSessions(space: Space(), bytesMax: 200)
        func code(_ load: LoadRequest) -> ErrorCode? {
            do throws(ImageError) {
                try sessions.begin(load, of: client, bytesMax: 80, at: Self.start)
                return nil
            } catch {
                return error.code
            }
        }
        #expect(code(load(bytes: 81)) == .limitExceeded)
        #expect(code(load(bytes: 5, url: "https://example.com/")) == .invalidRequest)
        // Reusing a token restarts its upload.
        #expect(code(load(1, bytes: 80)) == nil)
        #expect(code(load(1, bytes: 1)) == nil)
        for number in 2...UInt64(UploadSessions.perClientMax) {
            #expect(code(load(number, bytes: 1)) == nil)
        }
        #expect(code(load(900, bytes: 1)) == .busy)
        sessions.leave(client)
        #expect(code(load(900, bytes: 80)) == nil)
    }

    /// Announcing an upload allocates nothing, however large it is.
    @Test func spaceIsTakenAsPiecesCome() throws {
        let space = Space(bytesMax: 1 << 30)
        var sessions = UploadSessions(space: space, bytesMax: 1 << 30)
        let total = UInt64(64 << 20)
        try sessions.begin(load(bytes: total), of: client, bytesMax: total, at: Self.start)
        #expect(space.live.isEmpty)
        let part = [UInt8](repeating: 7, count: 60_000)
        for number in 0..<20 as Range<UInt64> {
            let next = chunk(at: number * 60_000, part, total: total)
            _ = try sessions.receive(next, of: client, at: Self.start)
            let taken = space.live.values.reduce(0) { $0 + $1.count }
            #expect(taken <= max(256 << 10, 2 * Int(number + 1) * 60_000))
            #expect(taken >= Int(number + 1) * 60_000)
        }
        #expect(space.live.values.first?.prefix(20 * 60_000).allSatisfy { $0 == 7 } == true)
        _ = sessions.cancel(of: client) { _ in true }
        #expect(space.live.isEmpty)
    }

    @Test func whatIsInUseCountsUntilItIsFreed() throws {
        let space = Space()
        var sessions = UploadSessions(space: space, bytesMax: 8)
        try sessions.begin(load(1, bytes: 5), of: client, bytesMax: 8, at: Self.start)
        let whole = try sessions.receive(
            chunk(at: 0, [1, 2, 3, 4, 5], total: 5), of: client, at: Self.start)
        let upload = try #require(whole)
        #expect(throws: ImageError.self) {
            try sessions.begin(load(2, bytes: 4), of: client, bytesMax: 8, at: Self.start)
        }
        sessions.freed(upload.block.id)
        space.discard(upload.block)
        try sessions.begin(load(2, bytes: 6), of: client, bytesMax: 8, at: Self.start)
    }

    // MARK: - Several clients

    /// Sends all chunks of an upload. Returns an error code unless it completed.
    private func send(
        _ number: UInt64, bytes: Int, of client: ClientID, to sessions: inout UploadSessions
    ) -> ErrorCode? {
        do throws(ImageError) {
            let total = UInt64(bytes)
            try sessions.begin(
                load(number, bytes: total), of: client, bytesMax: 1 << 30, at: Self.start)
            let part = [UInt8](repeating: 7, count: 60_000)
            for offset in stride(from: 0, to: bytes, by: part.count) {
                let next = Array(part.prefix(bytes - offset))
                let whole = try sessions.receive(
                    chunk(number, at: UInt64(offset), next, total: total), of: client,
                    at: Self.start)
                #expect((whole != nil) == (offset + next.count == bytes))
            }
            return nil
        } catch {
            _ = sessions.giveUp(Token(Identifier128(high: 0, low: number)), of: client)
            return error.code
        }
    }

    @Test func whoAnnouncesAndSendsNothingTakesNoRoom() throws {
        let space = Space(bytesMax: 1 << 30)
        var sessions = UploadSessions(space: space, bytesMax: 4 << 20)
        for number in 1...UInt64(UploadSessions.perClientMax) {
            try sessions.begin(
                load(number, bytes: 3 << 20), of: client, bytesMax: 1 << 30, at: Self.start)
        }
        #expect(space.live.isEmpty)
        #expect(send(1, bytes: 3 << 20, of: ClientID(2), to: &sessions) == nil)
        #expect(throws: ImageError.self) {
            try sessions.begin(
                load(1, bytes: (3 << 20) + 1), of: ClientID(3), bytesMax: 1 << 30, at: Self.start)
        }
    }

    @Test func whoHoldsMuchLeavesRoomForOthers() throws {
        var sessions = UploadSessions(space: Space(bytesMax: 1 << 30), bytesMax: 4 << 20)
        let codes = (1...5).map { send($0, bytes: 1 << 20, of: client, to: &sessions) }
        #expect(codes == [nil, nil, nil, .busy, .busy])
        #expect(send(1, bytes: 3 << 18, of: ClientID(2), to: &sessions) == nil)
        #expect(send(2, bytes: 1 << 18, of: ClientID(2), to: &sessions) == .busy)
        #expect(send(1, bytes: 3 << 16, of: ClientID(3), to: &sessions) == nil)
        // Chunks count as they arrive, even if there was room when the upload was announced.
        var other = UploadSessions(space: Space(bytesMax: 1 << 30), bytesMax: 4 << 20)
        try other.begin(
            load(9, bytes: 3 << 20), of: ClientID(2), bytesMax: 1 << 30, at: Self.start)
        #expect(send(1, bytes: 3 << 20, of: client, to: &other) == nil)
        let part = [UInt8](repeating: 1, count: 60_000)
        #expect(throws: ImageError.self) {
            for offset in stride(from: 0, to: UInt64(3 << 20), by: part.count) {
                let next = chunk(9, at: offset, part, total: 3 << 20)
                _ = try other.receive(next, of: ClientID(2), at: Self.start)
            }
        }
    }

    @Test func announcingAgainIsNoProgress() throws {
        var sessions = UploadSessions(space: Space(), bytesMax: 1_000_000)
        let silence = UploadSessions.silenceMilliseconds
        for time in [0, silence / 2, silence - 1] {
            try sessions.begin(
                load(bytes: 5), of: client, bytesMax: 10, at: Self.start.adding(milliseconds: time))
        }
        let late = sessions.expire(at: Self.start.adding(milliseconds: silence))
        #expect(late.map(\.error.code) == [.deadlineExceeded])
        #expect(late.first?.error.message.hasPrefix("only 0 of the 5 announced bytes") == true)
    }

    /// Regardless of how slowly the chunks arrive.
    @Test func theTimeoutCountsFromTheAnnouncement() throws {
        var sessions = UploadSessions(space: Space(), bytesMax: 1_000_000)
        var timed = load(bytes: 5)
        timed.image.timeoutMilliseconds = 15_000
        func receive(_ offset: UInt64, at milliseconds: Int) throws -> LoadRequest? {
            try sessions.receive(
                chunk(at: offset, [1], total: 5), of: client,
                at: Self.start.adding(milliseconds: milliseconds))?.load
        }
        try sessions.begin(timed, of: client, bytesMax: 10, at: Self.start)
        #expect(try receive(0, at: 8_000) == nil)
        #expect(sessions.expire(at: Self.start.adding(milliseconds: 10_000)).isEmpty)
        #expect(try receive(1, at: 14_000) == nil)
        #expect(sessions.expire(at: Self.start.adding(milliseconds: 14_999)).isEmpty)
        #expect(sessions.nextDeadline == Self.start.adding(milliseconds: 15_000))
        let late = sessions.expire(at: Self.start.adding(milliseconds: 15_000))
        #expect(late.first?.error.message.hasPrefix("only 2 of the 5 announced bytes") == true)
        // A complete upload gets the remaining time.
        try sessions.begin(timed, of: client, bytesMax: 10, at: Self.start)
        for offset in 0..<4 as Range<UInt64> { _ = try receive(offset, at: 4_000) }
        #expect(try receive(4, at: 9_000)?.image.timeoutMilliseconds == 6_000)
    }

    // MARK: - Ends of uploads

    /// An arena allocates whole pages.
    @Test func blocksThatAreLargerThanAskedForCountAsTheyAre() throws {
        let space = Space(bytesMax: 1 << 30, unit: 4_096)
        var sessions = UploadSessions(space: space, bytesMax: 16_384)
        for number in 1...3 as ClosedRange<UInt64> {
            #expect(send(number, bytes: 5, of: client, to: &sessions) == nil)
        }
        for block in space.live.keys { sessions.freed(block) }
        #expect(send(9, bytes: 12_288, of: client, to: &sessions) == nil)
    }

    @Test func aPieceWithoutSpaceEndsItsUpload() throws {
        var sessions = UploadSessions(space: Space(bytesMax: 4), bytesMax: 100)
        try sessions.begin(load(bytes: 5), of: client, bytesMax: 10, at: Self.start)
        let next = chunk(at: 0, [1], total: 5)
        #expect(throws: ImageError.self) { try sessions.receive(next, of: client, at: Self.start) }
        let ended = sessions.giveUp(Token(Identifier128(high: 0, low: 1)), of: client)
        #expect(ended?.uploadBytes == 5)
    }

    @Test func whatIsSilentOrCancelledIsGivenUp() throws {
        let space = Space()
        var sessions = UploadSessions(space: space, bytesMax: 1_000_000)
        try sessions.begin(load(1, bytes: 5), of: client, bytesMax: 10, at: Self.start)
        try sessions.begin(load(2, bytes: 5), of: client, bytesMax: 10, at: Self.start)
        let cancelled = sessions.cancel(of: client) { $0.token.value.low == 2 }
        #expect(cancelled.map(\.token.value.low) == [2])
        let due = try #require(sessions.nextDeadline)
        let early = sessions.expire(
            at: Self.start.adding(milliseconds: UploadSessions.silenceMilliseconds - 1))
        #expect(early.isEmpty)
        let late = sessions.expire(at: due)
        #expect(late.map(\.load.token.value.low) == [1])
        #expect(space.live.isEmpty)
        // Late chunks are dropped and counted as consumed.
        let stray = try sessions.receive(chunk(at: 0, [1], total: 5), of: client, at: due)
        #expect(stray == nil)
        let acknowledged = sessions.dueAcknowledgment(of: client)
        #expect(acknowledged == 1)
    }
}
