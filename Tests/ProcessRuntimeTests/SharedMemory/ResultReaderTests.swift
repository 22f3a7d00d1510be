import Linux
import Model
import Testing

@testable import ProcessRuntime

@Suite struct ResultReaderTests {
    private let bench: ArenaBench
    private let reader: ResultReader

    init() throws {
        bench = try ArenaBench(.results)
        reader = ResultReader(resultsDirectory: bench.directories.results)
    }

    @Test func aPublishedBlockIsCopiedAndAnUnpublishedOneIsStale() throws {
        let block = try bench.arena.reserve(37_000)
        bench.fill(block, 37_000, with: 3)
        let reference = bench.reference(block, 37_000)
        #expect(try reader.copy(reference, at: 0, count: Int(reference.length)) == nil)
        bench.arena.publish(block)
        #expect(try reader.copy(reference, at: 0, count: Int(reference.length))?.count == 37_000)
    }

    @Test func aReusedBlockIsStaleForWhoeverHoldsTheOldReference() throws {
        let old = try bench.arena.reserve(37_000)
        bench.arena.publish(old)
        let reference = bench.reference(old, 37_000)
        bench.arena.free(old.id)
        #expect(try reader.copy(reference, at: 0, count: Int(reference.length)) == nil)
        let new = try bench.arena.reserve(37_000)
        bench.arena.publish(new)
        #expect(new.offset == old.offset)
        #expect(try reader.copy(reference, at: 0, count: Int(reference.length)) == nil)
        #expect(try reader.copy(bench.reference(new, 37_000), at: 0, count: 37_000) != nil)
    }

    @Test func aLargeResultStaysReadableAfterItsSegmentWasRetired() throws {
        let block = try bench.arena.reserve(2 << 20)
        bench.fill(block, 2 << 20, with: 5)
        bench.arena.publish(block)
        let reference = bench.reference(block, 2 << 20)
        #expect(ResultReader.isLarge(reference))
        guard let memory = try reader.map(reference) else {
            Issue.record("the result was stale")
            return
        }
        bench.arena.retire(block.id)
        let payload = memory.bytes.dropFirst(Int(reference.offset)).prefix(2 << 20)
        #expect(payload.allSatisfy { $0 == 5 })
        let error = #expect(throws: ImageError.self) { _ = try reader.map(reference) == nil }
        #expect(error?.code == .stale)
    }

    /// A writer reuses one offset as fast as it can while a reader copies: every copy that isn't
    /// reported as stale contains the bytes of a single write.
    @Test func aTornCopyIsNeverTakenForWhole() throws {
        let arena = bench.arena
        let shared = LatestReference()
        let writer = try Thread(name: "writer") {
            for round in 0..<3000 {
                guard let block = try? arena.reserve(20_000) else { return }
                let byte = UInt8(truncatingIfNeeded: round)
                for index in 0..<20_000 { block.bytes[index] = byte }
                arena.publish(block)
                shared.set(block.reference(length: 20_000), byte)
                shared.waitForReads(round / 100 + 1)
                arena.free(block.id)
            }
            shared.finish()
        }
        var copies = 0
        while let (reference, byte) = shared.next() {
            var named = reference
            named.producer = BlockReference.Producer(
                kind: .decode, incarnation: bench.incarnation)
            guard let bytes = try reader.copy(named, at: 0, count: Int(named.length)) else {
                continue
            }
            copies += 1
            shared.countRead()
            #expect(bytes.allSatisfy { $0 == byte })
        }
        writer.join()
        #expect(copies >= 30)
    }
}
