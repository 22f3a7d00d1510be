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

    private let client = ClientID(1)
    private let part = [UInt8](repeating: 7, count: 60_000)
    private var space = Space()
    private var sessions: UploadSessions

    init() { sessions = UploadSessions(space: space, bytesMax: 1_000_000) }

    /// Sessions that hold so many bytes at most.
    private mutating func limit(to bytesMax: Int, _ space: Space = Space(bytesMax: 1 << 30)) {
        self.space = space
        sessions = UploadSessions(space: space, bytesMax: bytesMax)
    }

    private func moment(_ milliseconds: Int) -> Instant {
        Instant(nanoseconds: 0).adding(milliseconds: milliseconds)
    }

    private func load(_ number: UInt64, bytes: UInt64, url: String = "") -> LoadRequest {
        LoadRequest(
            token: Token(Identifier128(high: 0, low: number)), image: ImageRequest(url: url),
            uploadBytes: bytes)
    }

    /// Announces an upload. Returns the code of its refusal.
    private mutating func begin(
        _ number: UInt64 = 1, bytes: UInt64 = 5, of client: ClientID = ClientID(1),
        url: String = "", timeout: Int = 30_000, bytesMax: UInt64 = 1 << 30,
        at milliseconds: Int = 0
    ) -> ErrorCode? {
        var load = load(number, bytes: bytes, url: url)
        load.image.timeoutMilliseconds = timeout
        do throws(ImageError) {
            try sessions.begin(load, of: client, bytesMax: bytesMax, at: moment(milliseconds))
            return nil
        } catch {
            return error.code
        }
    }

    private mutating func receive(
        _ number: UInt64 = 1, at offset: UInt64, _ bytes: [UInt8] = [1], total: UInt64 = 5,
        of client: ClientID = ClientID(1), at milliseconds: Int = 0
    ) throws(ImageError) -> UploadSessions.Complete? {
        let chunk = Chunk(
            token: Token(Identifier128(high: 0, low: number)), offset: offset, total: total,
            bytes: bytes)
        return try sessions.receive(chunk, of: client, at: moment(milliseconds))
    }

    @Test mutating func piecesInOrderMakeTheWhole() throws {
        #expect(begin(bytesMax: 10) == nil)
        #expect(try receive(at: 0, [1, 2]) == nil)
        let upload = try #require(try receive(at: 2, [3, 4, 5]))
        #expect(Array(upload.block.bytes) == [1, 2, 3, 4, 5])
        // All chunks have arrived, so the client is notified at once.
        #expect(sessions.dueAcknowledgment(of: client) == 5)
        #expect(sessions.nextDeadline == nil)
        space.discard(upload.block)
    }

    @Test(arguments: [(1, [1] as [UInt8], 5), (0, [1], 6), (0, [1, 2, 3, 4, 5, 6], 6)])
    mutating func whatDoesNotFollowIsRefused(offset: UInt64, bytes: [UInt8], total: UInt64) {
        #expect(begin(bytesMax: 10) == nil)
        #expect(throws: ImageError.self) { try receive(at: offset, bytes, total: total) }
    }

    @Test mutating func limitsAreKept() {
        limit(to: 200)
        #expect(begin(bytes: 81, bytesMax: 80) == .limitExceeded)
        #expect(begin(url: "https://example.com/", bytesMax: 80) == .invalidRequest)
        // Reusing a token restarts its upload.
        #expect(begin(bytes: 80, bytesMax: 80) == nil)
        for number in 1...UInt64(UploadSessions.perClientMax) {
            #expect(begin(number, bytes: 1, bytesMax: 80) == nil)
        }
        #expect(begin(900, bytes: 1, bytesMax: 80) == .busy)
        sessions.leave(client)
        #expect(begin(900, bytes: 80, bytesMax: 80) == nil)
    }

    /// Announcing an upload allocates nothing, however large it is.
    @Test mutating func spaceIsTakenAsPiecesCome() throws {
        limit(to: 1 << 30)
        let total = UInt64(64 << 20)
        #expect(begin(bytes: total, bytesMax: total) == nil)
        #expect(space.live.isEmpty)
        for number in 0..<20 as Range<UInt64> {
            _ = try receive(at: number * 60_000, part, total: total)
            let taken = space.live.values.reduce(0) { $0 + $1.count }
            #expect(taken <= max(256 << 10, 2 * Int(number + 1) * 60_000))
            #expect(taken >= Int(number + 1) * 60_000)
        }
        #expect(space.live.values.first?.prefix(20 * 60_000).allSatisfy { $0 == 7 } == true)
        _ = sessions.cancel(of: client) { _ in true }
        #expect(space.live.isEmpty)
    }

    @Test mutating func whatIsInUseCountsUntilItIsFreed() throws {
        limit(to: 8)
        #expect(begin(1, bytesMax: 8) == nil)
        let upload = try #require(try receive(at: 0, [1, 2, 3, 4, 5]))
        #expect(begin(2, bytes: 4, bytesMax: 8) != nil)
        sessions.freed(upload.block.id)
        space.discard(upload.block)
        #expect(begin(2, bytes: 6, bytesMax: 8) == nil)
    }

    // MARK: - Several clients

    /// Sends all chunks of an upload. Returns an error code unless it completed.
    private mutating func send(
        _ number: UInt64 = 1, bytes: Int, of client: ClientID = ClientID(1)
    ) -> ErrorCode? {
        if let refusal = begin(number, bytes: UInt64(bytes), of: client) { return refusal }
        do throws(ImageError) {
            for offset in stride(from: 0, to: bytes, by: part.count) {
                let next = Array(part.prefix(bytes - offset))
                let whole = try receive(
                    number, at: UInt64(offset), next, total: UInt64(bytes), of: client)
                #expect((whole != nil) == (offset + next.count == bytes))
            }
            return nil
        } catch {
            _ = sessions.giveUp(Token(Identifier128(high: 0, low: number)), of: client)
            return error.code
        }
    }

    @Test mutating func whoAnnouncesAndSendsNothingTakesNoRoom() {
        limit(to: 4 << 20)
        for number in 1...UInt64(UploadSessions.perClientMax) {
            #expect(begin(number, bytes: 3 << 20) == nil)
        }
        #expect(space.live.isEmpty)
        #expect(send(bytes: 3 << 20, of: ClientID(2)) == nil)
        #expect(begin(bytes: (3 << 20) + 1, of: ClientID(3)) != nil)
    }

    @Test mutating func whoHoldsMuchLeavesRoomForOthers() {
        limit(to: 4 << 20)
        let codes = (1...5).map { send($0, bytes: 1 << 20) }
        #expect(codes == [nil, nil, nil, .busy, .busy])
        #expect(send(1, bytes: 3 << 18, of: ClientID(2)) == nil)
        #expect(send(2, bytes: 1 << 18, of: ClientID(2)) == .busy)
        #expect(send(1, bytes: 3 << 16, of: ClientID(3)) == nil)
        // Chunks count as they arrive, even if there was room when the upload was announced.
        limit(to: 4 << 20)
        #expect(begin(9, bytes: 3 << 20, of: ClientID(2)) == nil)
        #expect(send(bytes: 3 << 20) == nil)
        #expect(throws: ImageError.self) {
            for offset in stride(from: 0, to: UInt64(3 << 20), by: part.count) {
                _ = try receive(9, at: offset, part, total: 3 << 20, of: ClientID(2))
            }
        }
    }

    @Test mutating func announcingAgainIsNoProgress() {
        let silence = UploadSessions.silenceMilliseconds
        for time in [0, silence / 2, silence - 1] { #expect(begin(at: time) == nil) }
        let late = sessions.expire(at: moment(silence))
        #expect(late.map(\.error.code) == [.deadlineExceeded])
        #expect(late.first?.error.message.hasPrefix("only 0 of the 5 announced bytes") == true)
    }

    /// Regardless of how slowly the chunks arrive.
    @Test mutating func theTimeoutCountsFromTheAnnouncement() throws {
        #expect(begin(timeout: 15_000) == nil)
        #expect(try receive(at: 0, at: 8_000) == nil)
        #expect(sessions.expire(at: moment(10_000)).isEmpty == true)
        #expect(try receive(at: 1, at: 14_000) == nil)
        #expect(sessions.expire(at: moment(14_999)).isEmpty == true)
        #expect(sessions.nextDeadline == moment(15_000))
        let late = sessions.expire(at: moment(15_000))
        #expect(late.first?.error.message.hasPrefix("only 2 of the 5 announced bytes") == true)
        // A complete upload gets the remaining time.
        #expect(begin(timeout: 15_000) == nil)
        for offset in 0..<4 as Range<UInt64> { _ = try receive(at: offset, at: 4_000) }
        let whole = try receive(at: 4, at: 9_000)
        #expect(whole?.load.image.timeoutMilliseconds == 6_000)
    }

    // MARK: - Ends of uploads

    /// An arena allocates whole pages.
    @Test mutating func blocksThatAreLargerThanAskedForCountAsTheyAre() {
        limit(to: 16_384, Space(bytesMax: 1 << 30, unit: 4_096))
        for number in 1...3 as ClosedRange<UInt64> { #expect(send(number, bytes: 5) == nil) }
        for block in space.live.keys { sessions.freed(block) }
        #expect(send(9, bytes: 12_288) == nil)
    }

    @Test mutating func aPieceWithoutSpaceEndsItsUpload() {
        limit(to: 100, Space(bytesMax: 4))
        #expect(begin() == nil)
        #expect(throws: ImageError.self) { try receive(at: 0) }
        let ended = sessions.giveUp(Token(Identifier128(high: 0, low: 1)), of: client)
        #expect(ended?.uploadBytes == 5)
    }

    @Test mutating func whatIsSilentOrCancelledIsGivenUp() throws {
        #expect([begin(1), begin(2)] == [nil, nil])
        let cancelled = sessions.cancel(of: client) { $0.token.value.low == 2 }
        #expect(cancelled.map(\.token.value.low) == [2])
        let due = try #require(sessions.nextDeadline)
        let early = sessions.expire(at: moment(UploadSessions.silenceMilliseconds - 1))
        #expect(early.isEmpty)
        let late = sessions.expire(at: due)
        #expect(late.map(\.load.token.value.low) == [1])
        #expect(space.live.isEmpty)
        // Late chunks are dropped and counted as consumed.
        #expect(try receive(at: 0, at: UploadSessions.silenceMilliseconds) == nil)
        #expect(sessions.dueAcknowledgment(of: client) == 1)
    }
}
