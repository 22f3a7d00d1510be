/// Bytes of a TIFF, as EXIF is one: numbers in the order that it has (TIFF 6.0, section 2). Whoever
/// asks has looked whether the place is there.
package struct TIFFBytes: Sendable {
    /// All of it.
    package var bytes: [UInt8]
    /// Whether the first byte of a number is its highest.
    package let isBigEndian: Bool

    /// Bytes of an entry of a directory.
    package static let entryBytes = 12

    /// Takes bytes of that order.
    package init(_ bytes: [UInt8], isBigEndian: Bool) {
        (self.bytes, self.isBigEndian) = (bytes, isBigEndian)
    }

    /// The number of `count` bytes at a place.
    package func number(_ place: Int, _ count: Int) -> Int {
        let part = bytes[place..<(place + count)]
        return isBigEndian
            ? part.reduce(0) { $0 << 8 | Int($1) } : part.reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    /// Replaces it.
    package mutating func set(_ place: Int, _ value: Int, _ count: Int) {
        bytes.replaceSubrange(place..<(place + count), with: encoded(value, count))
    }

    /// A number of `count` bytes in this order.
    package func encoded(_ value: Int, _ count: Int) -> [UInt8] {
        let little = Self.little(value, count)
        return isBigEndian ? little.reversed() : little
    }

    /// A number, its lowest byte first.
    package static func little(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    /// Entries of the directory that begins there; `nil` where it does not lie within the bytes
    /// with its link to the next one.
    package func entryCount(ofDirectory start: Int) -> Int? {
        guard start >= 8, start <= bytes.count - 2 else { return nil }
        let count = number(start, 2)
        return start + 2 + Self.entryBytes * count <= bytes.count - 4 ? count : nil
    }
}
