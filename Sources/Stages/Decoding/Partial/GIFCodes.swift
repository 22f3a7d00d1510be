/// The compressed pixels of an image of a GIF (GIF89a, appendix F): how many there are, without
/// making them.
struct GIFCodes {
    private let bytes: UnsafeRawBufferPointer
    /// Of the block that is read.
    private var place: Int
    private var blockEnd: Int
    private var bits: UInt32 = 0
    private var bitCount = 0

    private static let codesMax = 4_096
    private static let leastBits = 1...11

    /// `start` is where the first block begins, behind the number of bits of the first code.
    init(_ bytes: UnsafeRawBufferPointer, from start: Int) {
        (self.bytes, place, blockEnd) = (bytes, start, start)
    }

    /// How many pixels they make, up to a code that cannot be, and at most so many.
    func pixels(atMost most: Int) -> Int {
        var (codes, left) = (self, most)
        let least = Int(bytes[place - 1])
        guard Self.leastBits.contains(least) else { return 0 }
        let (clear, end) = (1 << least, 1 << least + 1)
        // How many pixels each code makes.
        let first = [Int](repeating: 1, count: clear) + [0, 0]
        var (lengths, width, last) = (first, least + 1, 0)
        while left > 0 {
            guard let code = codes.next(width), code != end else { break }
            if code == clear {
                (lengths, width, last) = (first, least + 1, 0)
                continue
            }
            guard code < lengths.count || code == lengths.count && last > 0 else { break }
            let length = code < lengths.count ? lengths[code] : last + 1
            left -= length
            if last > 0, lengths.count < Self.codesMax { lengths.append(last + 1) }
            if lengths.count == 1 << width, lengths.count < Self.codesMax { width += 1 }
            last = length
        }
        return most - max(0, left)
    }

    /// The next code; `nil` where the bytes end, or the blocks.
    private mutating func next(_ width: Int) -> Int? {
        while bitCount < width {
            guard let byte = nextByte() else { return nil }
            bits |= UInt32(byte) << UInt32(bitCount)
            bitCount += 8
        }
        defer {
            bits >>= UInt32(width)
            bitCount -= width
        }
        return Int(bits & (1 << UInt32(width) - 1))
    }

    private mutating func nextByte() -> UInt8? {
        if place == blockEnd {
            guard place < bytes.count, bytes[place] > 0 else { return nil }
            blockEnd = place + 1 + Int(bytes[place])
            place += 1
        }
        guard place < bytes.count else { return nil }
        defer { place += 1 }
        return bytes[place]
    }
}
