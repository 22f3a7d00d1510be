extension ImageFormat {
    /// Bytes from the start of a file that `sniff` looks at, at most.
    public static let sniffedBytes = 64

    /// The format by the first bytes (SEMANTICS §11.1), JPEG XL and AVIF before the shorter
    /// rules; `tail` is the end of the file (100 bytes are enough), by which SVG is known.
    public static func sniff(_ head: some Collection<UInt8>, tail: some Collection<UInt8>) -> Self {
        let bytes = Array(head.prefix(sniffedBytes))
        switch bytes.first {
        case 0xFF: return bytes.starts(with: [0xFF, 0x0A]) ? .jxl : .jpeg
        case 0x89: return .png
        case 0x47: return .gif
        case 0x49, 0x4D: return .tiff
        case 0x42: return .bmp
        case 0x52: return isWebP(bytes) ? .webp : .undefined
        case 0x00: return boxed(bytes)
        case 0x25: return bytes.starts(with: "%PDF".utf8) ? .pdf : .undefined
        case 0x3C: return endsWithSVG(tail) ? .svg : .undefined
        default: return .undefined
        }
    }

    private static func isWebP(_ bytes: [UInt8]) -> Bool {
        bytes.count >= 12 && bytes.starts(with: "RIFF".utf8)
            && bytes[8..<12].elementsEqual("WEBP".utf8)
    }

    private static func boxed(_ bytes: [UInt8]) -> Self {
        if bytes.starts(with: [0, 0, 0, 0x0C, 0x4A, 0x58, 0x4C, 0x20]) { return .jxl }
        guard bytes.count >= 12, bytes[4..<8].elementsEqual("ftyp".utf8) else { return .undefined }
        switch String(decoding: bytes[8..<12], as: UTF8.self) {
        case "heic", "heix", "hevc", "hevx": return .heic
        case "mif1", "msf1": return .heif
        case "avif", "avis": return .avif
        default: return .undefined
        }
    }

    private static func endsWithSVG(_ tail: some Collection<UInt8>) -> Bool {
        let wanted = Array("</svg>".utf8)
        let bytes = Array(tail.suffix(100))
        guard bytes.count >= wanted.count else { return false }
        return (0...(bytes.count - wanted.count)).contains { start in
            bytes[start..<(start + wanted.count)].elementsEqual(wanted)
        }
    }
}
