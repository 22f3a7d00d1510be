import ImageModel
import Messages
import Scheduling
import StageContract
import Testing

@testable import CoordinatorRuntime

struct UploadDeskTests {
    /// Memory of the test, with a limit.
    private final class Space: OutputSpace {
        private let bytesMax: Int
        nonisolated(unsafe) private(set) var live: [BlockID: UnsafeMutableRawBufferPointer] = [:]

        init(bytesMax: Int = 1 << 20) { self.bytesMax = bytesMax }

        func reserve(_ bytes: Int) throws(ImageError) -> OutputBlock {
            let used = live.values.map(\.count).reduce(0, +)
            guard used + bytes <= bytesMax else { throw ImageError(.arenaFull, "full") }
            let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes, alignment: 64)
            let id = BlockID(UInt64(bitPattern: Int64(Int(bitPattern: memory.baseAddress))))
            live[id] = memory
            return OutputBlock(id: id, arena: .stage, segment: 1, offset: 64, bytes: memory)
        }

        func resize(
            _ block: OutputBlock, to bytes: Int, keeping: Int
        ) throws(ImageError) -> OutputBlock {
            let larger = try reserve(bytes)
            larger.bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: block.bytes[..<keeping]))
            discard(block)
            return larger
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

    private func piece(
        _ number: UInt64 = 1, at offset: UInt64, _ bytes: [UInt8], total: UInt64
    ) -> Piece {
        Piece(
            token: Token(Identifier128(high: 0, low: number)), offset: offset, total: total,
            bytes: bytes)
    }

    @Test func piecesInOrderMakeTheWhole() throws {
        let space = Space()
        var desk = UploadDesk(space: space, bytesMax: 1_000_000)
        try desk.begin(load(bytes: 5), of: client, bytesMax: 10, at: Self.start)
        let part = try desk.take(piece(at: 0, [1, 2], total: 5), of: client, at: Self.start)
        #expect(part == nil)
        let whole = try desk.take(piece(at: 2, [3, 4, 5], total: 5), of: client, at: Self.start)
        let upload = try #require(whole)
        #expect(Array(upload.block.bytes) == [1, 2, 3, 4, 5])
        // All its pieces have come: the client is told at once.
        let untold = desk.takeUntold(of: client)
        #expect(untold == 5)
        #expect(desk.nextDeadline == nil)
        space.discard(upload.block)
    }

    @Test(arguments: [(1, [1] as [UInt8], 5), (0, [1], 6), (0, [1, 2, 3, 4, 5, 6], 6)])
    func whatDoesNotFollowIsRefused(offset: UInt64, bytes: [UInt8], total: UInt64) throws {
        var desk = UploadDesk(space: Space(), bytesMax: 1_000_000)
        try desk.begin(load(bytes: 5), of: client, bytesMax: 10, at: Self.start)
        let wrong = piece(at: offset, bytes, total: total)
        #expect(throws: ImageError.self) { try desk.take(wrong, of: client, at: Self.start) }
    }

    @Test func limitsAreKept() throws {
        var desk = UploadDesk(space: Space(), bytesMax: 100)
        func code(_ load: LoadRequest) -> ErrorCode? {
            do throws(ImageError) {
                try desk.begin(load, of: client, bytesMax: 80, at: Self.start)
                return nil
            } catch {
                return error.code
            }
        }
        #expect(code(load(bytes: 81)) == .limitExceeded)
        #expect(code(load(bytes: 5, url: "https://example.com/")) == .invalidRequest)
        #expect(code(load(1, bytes: 60)) == nil)
        #expect(code(load(2, bytes: 60)) == .busy)
        // The same token begins anew, in the room of the old one.
        #expect(code(load(1, bytes: 80)) == nil)
        #expect(code(load(1, bytes: 1)) == nil)
        for number in 2...UInt64(UploadDesk.perClientMax) {
            #expect(code(load(number, bytes: 1)) == nil)
        }
        #expect(code(load(900, bytes: 1)) == .busy)
        desk.leave(client)
        #expect(code(load(900, bytes: 80)) == nil)
    }

    /// Announcing is cheap, however much is announced.
    @Test func spaceIsTakenAsPiecesCome() throws {
        let space = Space(bytesMax: 1 << 30)
        var desk = UploadDesk(space: space, bytesMax: 1 << 30)
        let total = UInt64(64 << 20)
        try desk.begin(load(bytes: total), of: client, bytesMax: total, at: Self.start)
        #expect(space.live.isEmpty)
        let part = [UInt8](repeating: 7, count: 60_000)
        for number in 0..<20 as Range<UInt64> {
            let next = piece(at: number * 60_000, part, total: total)
            _ = try desk.take(next, of: client, at: Self.start)
            let taken = space.live.values.reduce(0) { $0 + $1.count }
            #expect(taken <= max(256 << 10, 2 * Int(number + 1) * 60_000))
            #expect(taken >= Int(number + 1) * 60_000)
        }
        #expect(space.live.values.first?.prefix(20 * 60_000).allSatisfy { $0 == 7 } == true)
        _ = desk.cancel(of: client) { _ in true }
        #expect(space.live.isEmpty)
    }

    @Test func whatIsInUseCountsUntilItIsFreed() throws {
        let space = Space()
        var desk = UploadDesk(space: space, bytesMax: 8)
        try desk.begin(load(1, bytes: 5), of: client, bytesMax: 8, at: Self.start)
        let whole = try desk.take(
            piece(at: 0, [1, 2, 3, 4, 5], total: 5), of: client, at: Self.start)
        let upload = try #require(whole)
        #expect(throws: ImageError.self) {
            try desk.begin(load(2, bytes: 4), of: client, bytesMax: 8, at: Self.start)
        }
        desk.freed(upload.block.id)
        space.discard(upload.block)
        try desk.begin(load(2, bytes: 8), of: client, bytesMax: 8, at: Self.start)
    }

    @Test func aPieceWithoutSpaceEndsItsUpload() throws {
        var desk = UploadDesk(space: Space(bytesMax: 4), bytesMax: 100)
        try desk.begin(load(bytes: 5), of: client, bytesMax: 10, at: Self.start)
        let next = piece(at: 0, [1], total: 5)
        #expect(throws: ImageError.self) { try desk.take(next, of: client, at: Self.start) }
        let ended = desk.giveUp(Token(Identifier128(high: 0, low: 1)), of: client)
        #expect(ended?.uploadBytes == 5)
    }

    @Test func whatIsSilentOrCancelledIsGivenUp() throws {
        let space = Space()
        var desk = UploadDesk(space: space, bytesMax: 1_000_000)
        try desk.begin(load(1, bytes: 5), of: client, bytesMax: 10, at: Self.start)
        try desk.begin(load(2, bytes: 5), of: client, bytesMax: 10, at: Self.start)
        let cancelled = desk.cancel(of: client) { $0.token.value.low == 2 }
        #expect(cancelled.map(\.token.value.low) == [2])
        let due = try #require(desk.nextDeadline)
        let early = desk.expire(
            at: Self.start.adding(milliseconds: UploadDesk.silenceMilliseconds - 1))
        #expect(early.isEmpty)
        let late = desk.expire(at: due)
        #expect(late.map(\.load.token.value.low) == [1])
        #expect(space.live.isEmpty)
        // Pieces that come late are dropped, and counted as taken.
        let stray = try desk.take(piece(at: 0, [1], total: 5), of: client, at: due)
        #expect(stray == nil)
        let untold = desk.takeUntold(of: client)
        #expect(untold == 1)
    }
}
