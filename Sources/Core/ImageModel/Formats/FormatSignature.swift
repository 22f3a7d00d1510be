/// What the first bytes of a file are, and in some cases the last ones.
package struct FormatSignature: Sendable {
    private struct Part {
        let bytes: [UInt8]
        let offset: Int
    }

    private let parts: [Part]
    /// What stands somewhere in the bytes that are looked at; empty: nothing need to.
    private var within: [UInt8] = []
    /// What stands somewhere in the last 100 bytes; empty: nothing need to.
    private var end: [UInt8] = []

    /// A file that begins so.
    static func bytes(_ bytes: [UInt8]) -> FormatSignature {
        FormatSignature(parts: [Part(bytes: bytes, offset: 0)])
    }

    /// An EBML file (RFC 8794) with a document type of that name.
    static func ebml(_ type: String) -> FormatSignature {
        FormatSignature(
            parts: [Part(bytes: [0x1A, 0x45, 0xDF, 0xA3], offset: 0)], within: Array(type.utf8))
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
        return FormatSignature(parts: parts)
    }

    /// Whether a file with this start and this end has the signature.
    func matches(_ head: [UInt8], tail: some Collection<UInt8>) -> Bool {
        for part in parts where !head.dropFirst(part.offset).starts(with: part.bytes) {
            return false
        }
        return Self.stands(within, in: head)
            && (end.isEmpty
                || Self.stands(end, in: Array(tail.suffix(ImageFormat.sniffedTailBytes))))
    }

    private static func stands(_ part: [UInt8], in bytes: [UInt8]) -> Bool {
        guard bytes.count >= part.count else { return part.isEmpty }
        return (0...(bytes.count - part.count)).contains { bytes[$0...].starts(with: part) }
    }
}

extension [FormatSignature] {
    /// Box files of any of these brands.
    static func brands(_ brands: String...) -> [FormatSignature] {
        brands.map { .brand($0) }
    }
}
