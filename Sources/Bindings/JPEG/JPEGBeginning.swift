private import Glibc

/// The first bytes of a JPEG that still arrives.
public enum JPEGBeginning {
    /// How many of them end behind a whole segment or within a scan: the rest is the beginning of a
    /// segment, which nobody can read yet. Bytes that are none of a JPEG count as they are.
    public static func readableCount(_ bytes: UnsafeRawBufferPointer) -> Int {
        var offset = 2
        while offset + 1 < bytes.count {
            guard bytes[offset] == 0xFF else { return bytes.count }
            switch bytes[offset + 1] {
            // Any number of them may fill the space before a marker.
            case 0xFF: offset += 1
            // Without a length.
            case 0x00, 0x01, 0xD0...0xD8: offset += 2
            case 0xD9: return bytes.count
            case let marker:
                guard offset + 4 <= bytes.count else { return offset }
                let length = Int(bytes[offset + 2]) << 8 | Int(bytes[offset + 3])
                let end = offset + 2 + length
                guard length >= 2 else { return bytes.count }
                guard end <= bytes.count else { return offset }
                offset = marker == 0xDA ? endOfScan(bytes, from: end) : end
            }
        }
        return min(offset, bytes.count)
    }

    /// Where the next marker stands behind the coded pixels; restarts are part of these.
    private static func endOfScan(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
        var offset = start
        while offset < bytes.count, let base = bytes.baseAddress,
            let found = memchr(base + offset, 0xFF, bytes.count - offset)
        {
            offset = UnsafeRawPointer(found) - base
            guard offset + 1 < bytes.count else { return bytes.count }
            switch bytes[offset + 1] {
            case 0xFF: offset += 1
            case 0x00, 0xD0...0xD7: offset += 2
            default: return offset
            }
        }
        return bytes.count
    }
}
