import Linux
import Model
import TestKit
import Testing
import XXHash

@testable import Caching

/// File headers with a correct checksum and arbitrary fields.
@Suite struct HeaderForgeryTests {
    private static let count = CurrentProcess.environment("IMAGEBUS_LONG") == "1" ? 200_000 : 10_000

    private let header = BodyHeader(
        key: "https://a.test/a.png", bodyLength: 40_000, checksum: 1, created: at(0), stored: at(1),
        metadata: originalFacts)

    @Test func noFieldTrapsWhatItSaysIsPlausibleOrItIsNoHeader() throws {
        let whole = try #require(header.encoded())
        var random = SeededGenerator(seed: 1)
        var read = 0
        for _ in 0..<Self.count {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...3, using: &random) { forge(&bytes, &random) }
            sign(&bytes)
            guard let forged = BodyHeader(bytes) else { continue }
            read += 1
            #expect((0...Int(IndexRow.bodyBytesMax)).contains(forged.bodyLength))
            #expect(forged.metadata.info.pages > 0)
            #expect(UnixTime(plausibleMilliseconds: forged.stored.milliseconds) != nil)
            #expect(UnixTime(plausibleMilliseconds: forged.created.milliseconds) != nil)
        }
        #expect(read > 0, "some are valid headers")
    }

    /// The largest lengths, which overflow when added.
    @Test(arguments: [UInt64(Int64.max), UInt64(Int64.max) - 100, 1 << 62, 1 << 48, .max])
    func aFileThatSaysSuchALengthIsRemoved(length: UInt64) throws {
        let fixture = try DiskFixture()
        do { try fixture.tier().put("a", sample(40_000)) }
        let file = try #require(fixture.bodyFiles().first)
        try fixture.rewrite(file) { bytes in
            let count = BodyHeader.length(of: bytes) ?? 0
            var head = Array(bytes[..<count])
            var writer = ByteWriter(head)
            writer.replace(length, at: 24)
            head = writer.bytes
            sign(&head)
            bytes.replaceSubrange(..<count, with: head)
        }
        try fixture.removeIndex()
        let tier = try fixture.tier()
        tier.maintainAll()
        #expect(tier.get("a") == nil)
        #expect(try fixture.bodyFiles().isEmpty)
        #expect(tier.state.health == .healthy)
    }

    /// A file with the highest possible number, which has no successor.
    @Test func aFileOfTheHighestNumberIsLeftAlone() throws {
        let fixture = try DiskFixture()
        do { try fixture.tier().put("a", sample(40_000)) }
        try fixture.removeIndex()
        try FileDescriptor.makeDirectory(path: fixture.path + "/files/ff")
        let name = "\(fixture.path)/files/ff/7fffffffffffffff"
        _ = try FileDescriptor.open(name, [.create, .writeOnly])
        let tier = try fixture.tier()
        tier.maintainAll()
        tier.put("b", sample(40_000))
        #expect(tier.get("a") == sample(40_000))
        #expect(tier.get("b") == sample(40_000))
    }

    private func forge(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
        let place = Int.random(in: 24..<bytes.count, using: &random)
        let count = min(random.happens(50) ? 1 : 8, bytes.count - place)
        let fill: UInt8? = [nil, 0, 0xff, 0x7f].randomElement(using: &random)!
        for index in place..<(place + count) {
            bytes[index] = fill ?? .random(in: 0...255, using: &random)
        }
    }

    private func sign(_ bytes: inout [UInt8]) {
        var writer = ByteWriter(bytes)
        writer.replace(UInt64(0), at: 16)
        writer.replace(XXH3.hash64(writer.bytes.span.bytes), at: 16)
        bytes = writer.bytes
    }
}

extension DiskFixture {
    /// Removes the index, as if it had been lost.
    func removeIndex() throws {
        let root = try FileDescriptor.openDirectory(path)
        for suffix in ["", "-wal", "-shm"] { try? root.unlink("index.sqlite" + suffix) }
    }
}
