import Model
import Testing

@testable import Imagebus

/// Readers of the same result share its bytes as long as one of them holds them.
@Suite struct BytesInUseTests {
    private static let count = Int(BytesInUse.bytesMin)

    private static func reference(_ block: UInt64, length: Int = count) -> BlockReference {
        BlockReference(
            arena: .results, segment: 1, offset: 64, length: UInt64(length), block: BlockID(block))
    }

    private static func bytes(_ count: Int = count) -> ImageBytes {
        ImageBytes([UInt8](repeating: 7, count: count))
    }

    @Test func aSecondReaderGetsTheSameObject() {
        let inUse = BytesInUse()
        let first = Self.bytes()
        #expect(inUse.add(first, of: Self.reference(1)) === first)
        #expect(inUse.bytes(of: Self.reference(1)) === first)
        #expect(inUse.add(Self.bytes(), of: Self.reference(1)) === first)
        #expect(inUse.bytes(of: Self.reference(2)) == nil)
        inUse.forgetAll()
        #expect(inUse.bytes(of: Self.reference(1)) == nil)
    }

    @Test func nobodyKeepsWhatNobodyReads() {
        let inUse = BytesInUse()
        for number in 0..<1_000 {
            _ = inUse.add(Self.bytes(), of: Self.reference(UInt64(number)))
            #expect(inUse.bytes(of: Self.reference(UInt64(number))) == nil)
        }
    }

    @Test func smallResultsAreCopied() {
        let inUse = BytesInUse()
        let small = Self.bytes(Self.count - 1)
        let reference = Self.reference(1, length: Self.count - 1)
        #expect(inUse.add(small, of: reference) === small)
        #expect(inUse.bytes(of: reference) == nil)
    }
}
