import Model
import Testing

@testable import ImagebusWorker

@Suite struct CacheRecordTests {
    /// The same record produced by `pack` in `Examples/Python/imagebus_worker/records.py`.
    private let known = Array<UInt8>(
        hex: """
            494243313b0000007b68e5cf8b010000e0b0a303268c8e4ee37f217c2bc4b3750a0808011003
            180220011a0322312242037265644203623a315a1e0a0508e80710051213707269766174652c
            206d61782d6167653d363018016001696d616765
            """)

    private var metadata: StoredMetadata {
        var metadata = StoredMetadata(
            info: ImageInfo(format: .png, size: PixelSize(width: 3, height: 2)), etag: "\"1\"",
            caching: OriginCaching(
                CacheControl("private, max-age=60"),
                ResponseAge(bornMilliseconds: 1_000, expiresInSeconds: 5),
                variesOnEverything: true))
        metadata.tags = ["red", "b:1"]
        // Independent of the current revision.
        metadata.revision = 1
        return metadata
    }

    @Test func itIsThatOfThePythonKit() throws {
        let body = Array("image".utf8)
        let produced = try CacheRecord.packed(
            metadata, stored: 1_700_000_000_123, bodyByteCount: body.count
        ) { $0.copyBytes(from: body) }
        #expect(produced == known)
        let read = try #require(try CacheRecord(known))
        #expect(read.metadata == metadata && read.stored == 1_700_000_000_123)
        #expect(Array(known[read.body]) == body)
    }

    @Test func whatIsNotAsItWasPutThereIsNone() throws {
        #expect(try CacheRecord([]) == nil)
        #expect(try CacheRecord([UInt8](repeating: 0xFF, count: 99)) == nil)
        for end in known.indices { #expect(try CacheRecord(Array(known[..<end])) == nil) }
        // The digest covers everything but the time of the store.
        for index in known.indices where !(8..<16).contains(index) {
            var torn = known
            torn[index] ^= 1
            #expect(try CacheRecord(torn) == nil, "byte \(index)")
        }
    }
}

extension [UInt8] {
    fileprivate init(hex: String) {
        let digits = hex.compactMap(\.hexDigitValue)
        self = stride(from: 0, to: digits.count, by: 2).map {
            UInt8(digits[$0] << 4 | digits[$0 + 1])
        }
    }
}
