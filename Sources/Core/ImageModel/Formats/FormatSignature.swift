/// What the first bytes of a file are, and in some cases the last ones.
package struct FormatSignature: Sendable {
    private struct Part {
        let bytes: [UInt8]
        let offset: Int
    }

    private let parts: [Part]
    /// What stands somewhere in the last 100 bytes; empty: nothing need to.
    private let end: [UInt8]

    /// A file that begins so.
    static func bytes(_ bytes: [UInt8]) -> FormatSignature {
        FormatSignature(parts: [Part(bytes: bytes, offset: 0)], end: [])
    }

    /// A file that begins so, has the second text at its offset, and the last one at its end.
    static func text(
        _ start: String, then text: String = "", at offset: Int = 0, end: String = ""
    ) -> FormatSignature {
        let parts = [(start, 0), (text, offset)].map { Part(bytes: Array($0.utf8), offset: $1) }
        return FormatSignature(parts: parts, end: Array(end.utf8))
    }

    /// A box file (ISO/IEC 14496-12, 4.3) of that major brand; its first box is no larger than
    /// three bytes say.
    fileprivate static func brand(_ brand: String) -> FormatSignature {
        let parts = [
            Part(bytes: [0], offset: 0), Part(bytes: Array("ftyp\(brand)".utf8), offset: 4),
        ]
        return FormatSignature(parts: parts, end: [])
    }

    /// Whether a file with this start and this end has the signature.
    func matches(_ head: [UInt8], tail: some Collection<UInt8>) -> Bool {
        for part in parts where !head.dropFirst(part.offset).starts(with: part.bytes) {
            return false
        }
        return end.isEmpty || isIn(tail)
    }

    private func isIn(_ tail: some Collection<UInt8>) -> Bool {
        let bytes = Array(tail.suffix(Self.tailBytes))
        guard bytes.count >= end.count else { return false }
        return (0...(bytes.count - end.count)).contains { bytes[$0...].starts(with: end) }
    }

    private static let tailBytes = 100
}

extension [FormatSignature] {
    /// Box files of any of these brands.
    static func brands(_ brands: String...) -> [FormatSignature] {
        brands.map { .brand($0) }
    }
}
