import TestKit
import Testing

@testable import Zlib

/// Streams and checksums, compared with those of Python's zlib.
@Suite struct DeflaterTests {
    private static let samples: [[UInt8]] = [
        [], [7], Array(repeating: 9, count: 100_000),
        (0..<70_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 3) },
    ]

    private func python(_ script: String, _ bytes: [UInt8]) throws -> [UInt8] {
        try Tool.run(
            ["python3", "-c", "import sys, zlib; b = sys.stdin.buffer.read()\n" + script],
            input: bytes)
    }

    @Test(arguments: samples, [1, 6, 99])
    func anotherProgramUndoesAStream(bytes: [UInt8], level: Int) throws {
        let stream = try Deflater.zlib(bytes, level: level)
        #expect(stream.count < max(64, bytes.count))
        #expect(try python("sys.stdout.buffer.write(zlib.decompress(b))", stream) == bytes)
    }

    @Test(arguments: samples) func sumsAreThoseOfAnotherProgram(bytes: [UInt8]) throws {
        let sum = bytes.withUnsafeBytes { CRC32.of($0) }
        let output = try python("print(zlib.crc32(b))", bytes)
        #expect(String(decoding: output, as: UTF8.self) == "\(sum)\n")
    }
}
