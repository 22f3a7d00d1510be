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
        ) throws(ImageError) -> OutputBlock { block }

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
        var desk = UploadDesk(space: space)
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
        var desk = UploadDesk(space: Space())
        try desk.begin(load(bytes: 5), of: client, bytesMax: 10, at: Self.start)
        let wrong = piece(at: offset, bytes, total: total)
        #expect(throws: ImageError.self) { try desk.take(wrong, of: client, at: Self.start) }
    }

    @Test func limitsAreKept() throws {
        let space = Space(bytesMax: 100)
        var desk = UploadDesk(space: space)
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
        for number in 10..<(9 + UInt64(UploadDesk.perClientMax)) {
            _ = code(load(number, bytes: 1))
        }
        #expect(space.live.count <= UploadDesk.perClientMax)
        #expect(code(load(900, bytes: 1)) == .busy)
        desk.leave(client)
        #expect(space.live.isEmpty)
    }

    @Test func whatIsSilentOrCancelledIsGivenUp() throws {
        let space = Space()
        var desk = UploadDesk(space: space)
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
