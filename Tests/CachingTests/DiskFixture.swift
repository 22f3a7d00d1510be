import Linux
import Model
import Testing

@testable import Caching

/// A temporary cache directory and disk tiers on it.
struct DiskFixture: ~Copyable {
    let scratch: TemporaryDirectory

    init() throws { scratch = try TemporaryDirectory() }

    var path: String { scratch.path + "/cache" }

    /// A tier on the directory; one at a time.
    func tier(_ policy: DiskPolicy = DiskPolicy(), now: UnixTime = at(0)) throws -> DiskTier {
        DiskTier(directory: try CacheDirectory(path: path), policy: policy, now: now)
    }

    /// Rewrites a file, given relative to the cache directory, with `edit`.
    func rewrite(_ name: String, _ edit: (inout [UInt8]) -> Void) throws {
        let file = try FileDescriptor.open("\(path)/\(name)", .readWrite)
        var bytes = try file.readToEnd(bytesMax: 100 << 20)
        edit(&bytes)
        let new = try FileDescriptor.open("\(path)/\(name)", [.writeOnly, .truncate])
        try new.writeAll(bytes)
    }

    /// All regular files below `files`, relative to the cache directory.
    func bodyFiles() throws -> [String] {
        var names: [String] = []
        let files = try FileDescriptor.openDirectory("\(path)/files")
        for bucket in try files.entries() {
            for name in try files.openDirectory(bucket).entries() {
                names.append("files/\(bucket)/\(name)")
            }
        }
        return names.sorted()
    }

    func names() throws -> [String] { try FileDescriptor.openDirectory(path).entries().sorted() }
}

extension DiskTier {
    /// Stores one body as a group of its own.
    func write(
        _ key: String, _ body: UnsafeRawBufferPointer, _ properties: StoredMetadata, _ now: UnixTime
    ) -> DiskWriteResult {
        write([DiskWrite(key: key, body: body, metadata: properties, stored: now)], now)[0]
    }

    /// Stores samples in one group.
    func write(_ samples: [(key: String, bytes: [UInt8])], _ now: UnixTime) -> [DiskWriteResult] {
        let bodies = samples.map { sample in
            let copy = UnsafeMutableRawBufferPointer.allocate(
                byteCount: sample.bytes.count, alignment: 1)
            copy.copyBytes(from: sample.bytes)
            return copy
        }
        defer { for body in bodies { body.deallocate() } }
        let writes = zip(samples, bodies).map { sample, body in
            DiskWrite(
                key: sample.key, body: UnsafeRawBufferPointer(body), metadata: jpegFacts,
                stored: now)
        }
        return write(writes, now)
    }

    /// Stores a sample and expects success.
    func put(
        _ key: String, _ bytes: [UInt8], _ properties: StoredMetadata = jpegFacts,
        _ now: UnixTime = at(0)
    ) {
        #expect(bytes.withUnsafeBytes { write(key, $0, properties, now) } == .stored)
    }

    /// The bytes of a key as a query reads them; `nil` for a miss.
    func get(_ key: String, _ now: UnixTime = at(0)) -> [UInt8]? {
        guard let row = locate(key, now) else { return nil }
        var bytes = [UInt8](repeating: 0, count: row.bodyLength)
        return bytes.withUnsafeMutableBytes { read(key, row, into: $0, now) } ? bytes : nil
    }

    /// Runs all pending maintenance.
    func maintainAll(_ now: UnixTime = at(0)) {
        var steps = 0
        while maintain(now), steps < 100_000 { steps += 1 }
        #expect(steps < 100_000)
    }
}
