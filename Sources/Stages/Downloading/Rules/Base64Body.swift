/// A body that is base64 (RFC 4648 §4); characters of neither it nor its padding are left out.
final class Base64Body: BodyCipher {
    private var bits: UInt32 = 0
    private var digits = 0
    private var isPadded = false

    func step(
        _ input: RawSpan, isLast: Bool, into room: UnsafeMutableRawBufferPointer
    ) throws(DownloadFailure) -> CipherStep {
        var written = 0
        for index in 0..<input.byteCount {
            let byte = input.unsafeLoad(fromByteOffset: index, as: UInt8.self)
            if byte == UInt8(ascii: "=") { isPadded = true }
            guard let digit = Self.digit(byte) else { continue }
            guard !isPadded else { throw .undecryptable("base64 follows its padding") }
            (bits, digits) = (bits << 6 | digit, digits + 1)
            if digits == 4 { written += flush(into: room, at: written) }
        }
        if isLast { written += try flushRest(into: room, at: written) }
        return CipherStep(consumed: input.byteCount, produced: written, isEnd: isLast)
    }

    /// Two digits are a byte, three are two. The padding may be missing.
    private func flushRest(
        into room: UnsafeMutableRawBufferPointer, at place: Int
    ) throws(DownloadFailure) -> Int {
        guard digits != 1 else { throw .undecryptable("its base64 ends within a byte") }
        bits <<= UInt32(6 * (4 - digits))
        return flush(into: room, at: place)
    }

    /// The bytes of the digits that are here.
    private func flush(into room: UnsafeMutableRawBufferPointer, at place: Int) -> Int {
        let count = max(0, digits - 1)
        for index in 0..<count {
            room[place + index] = UInt8(truncatingIfNeeded: bits >> UInt32(16 - 8 * index))
        }
        (bits, digits) = (0, 0)
        return count
    }

    private static func digit(_ byte: UInt8) -> UInt32? {
        switch byte {
        case 0x41...0x5A: UInt32(byte - 0x41)
        case 0x61...0x7A: UInt32(byte - 0x61) + 26
        case 0x30...0x39: UInt32(byte - 0x30) + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
