/// PNGs of 8 × 8 black pixels that inflate to more data than that.
public enum PNGOfZeros {
    /// The file, with `chunks` before IDAT. IDAT inflates to `pixelBytes`; the image needs 200.
    public static func file(_ chunks: [[UInt8]] = [], pixelBytes: Int = 8 * 25) -> [UInt8] {
        let header: [UInt8] = [0, 0, 0, 8, 0, 0, 0, 8, 8, 2, 0, 0, 0]
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + chunk("IHDR", header)
            + chunks.flatMap(\.self) + chunk("IDAT", zeros(pixelBytes)) + chunk("IEND", [])
    }

    /// A text or profile chunk that inflates to `count` bytes.
    public static func metadata(_ type: String, _ count: Int) -> [UInt8] {
        // A keyword; in iTXt also a compression flag and method, no language and no translation.
        let head: [UInt8] = type == "iTXt" ? [0x61, 0, 1, 0, 0, 0] : [0x61, 0, 0]
        return chunk(type, head + zeros(count))
    }

    private static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
        let signed = Array(type.utf8) + data
        let count = UInt32(data.count)
        return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: count >> $0) } + signed
            + checksum(signed)
    }

    /// CRC-32 of a chunk, bit by bit (PNG, annex D).
    private static func checksum(_ bytes: [UInt8]) -> [UInt8] {
        var crc = UInt32.max
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
        }
        crc ^= .max
        return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: crc >> $0) }
    }

    /// A zlib stream of `count` zeros: a literal, then copies of length 258 at distance 1 (13 bits
    /// each), and the rest as literals (RFC 1951 §3.2.6).
    private static func zeros(_ count: Int) -> [UInt8] {
        var bits = BitWriter()
        bits.write(0b011, 3)
        bits.write(reversed: 0b0011_0000, 8)
        for _ in 0..<((count - 1) / 258) {
            bits.write(reversed: 0b1100_0101, 8)
            bits.write(0, 5)
        }
        for _ in 0..<((count - 1) % 258) { bits.write(reversed: 0b0011_0000, 8) }
        bits.write(0, 7)
        // Adler-32 of zeros: the first sum stays 1, and the second grows by 1 per byte.
        let sum = UInt32(count % 65_521) << 16 | 1
        return [0x78, 0x01] + bits.bytes
            + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: sum >> $0) }
    }
}

/// Writes bits to bytes, least significant bit first.
private struct BitWriter {
    private var done: [UInt8] = []
    private var pending: UInt32 = 0
    private var count: UInt32 = 0

    /// All bytes; the last one is padded with zeros.
    var bytes: [UInt8] { count > 0 ? done + [UInt8(truncatingIfNeeded: pending)] : done }

    mutating func write(_ value: UInt32, _ width: UInt32) {
        pending |= value << count
        count += width
        while count >= 8 {
            done.append(UInt8(truncatingIfNeeded: pending))
            pending >>= 8
            count -= 8
        }
    }

    /// Writes a Huffman code, most significant bit first.
    mutating func write(reversed code: UInt32, _ width: UInt32) {
        for place in (0..<width).reversed() { write(code >> place & 1, 1) }
    }
}
