import ImageModel

/// EXIF with a small JPEG in its second directory (EXIF 2.32, 4.5.5 and 4.6.3).
struct ExifThumbnail {
    private var block: TIFFBytes

    /// The block with the thumbnail; that of another one is no longer found. An empty block is made
    /// anew. Nil where the block has no first directory.
    static func added(_ jpeg: [UInt8], to block: [UInt8]) -> [UInt8]? {
        var exif = ExifThumbnail(block)
        if block.isEmpty { exif.appendMain() }
        guard let link = exif.link else { return nil }
        if exif.count % 2 == 1 { exif.block.bytes.append(0) }
        exif.block.set(link, exif.count, 4)
        exif.append(jpeg)
        return exif.block.bytes
    }

    private enum Kind: Int {
        case short = 3
        case long = 4
        case fraction = 5
    }

    private static let head: [UInt8] = [0x49, 0x49, 42, 0, 8, 0, 0, 0]

    private init(_ block: [UInt8]) {
        let bytes = block.isEmpty ? Self.head : block
        self.block = TIFFBytes(bytes, isBigEndian: bytes.starts(with: [0x4D, 0x4D]))
    }

    private var count: Int { block.bytes.count }

    /// Where the first directory says where the next one is.
    private var link: Int? {
        guard count >= 8 else { return nil }
        let start = block.number(4, 4)
        return block.entryCount(ofDirectory: start).map { start + 2 + TIFFBytes.entryBytes * $0 }
    }

    /// What EXIF wants of every file: upright, 72 pixels an inch, colours in the middle.
    private mutating func appendMain() {
        let data = count + 2 + 5 * TIFFBytes.entryBytes + 4
        append(5, 2)
        appendEntry(0x0112, .short, 1)
        appendResolution(data)
        appendEntry(0x0213, .short, 1)
        append(0, 4)
        appendInches()
    }

    private mutating func append(_ jpeg: [UInt8]) {
        let data = count + 2 + 6 * TIFFBytes.entryBytes + 4
        append(6, 2)
        // A JPEG.
        appendEntry(0x0103, .short, 6)
        appendResolution(data)
        appendEntry(0x0201, .long, data + 8)
        appendEntry(0x0202, .long, jpeg.count)
        append(0, 4)
        appendInches()
        block.bytes += jpeg
    }

    private mutating func appendResolution(_ place: Int) {
        appendEntry(0x011A, .fraction, place)
        appendEntry(0x011B, .fraction, place)
        appendEntry(0x0128, .short, 2)
    }

    private mutating func appendInches() {
        append(72, 4)
        append(1, 4)
    }

    /// One value, or where it is.
    private mutating func appendEntry(_ tag: Int, _ kind: Kind, _ value: Int) {
        append(tag, 2)
        append(kind.rawValue, 2)
        append(1, 4)
        let isShort = kind == .short
        append(value, isShort ? 2 : 4)
        if isShort { append(0, 2) }
    }

    private mutating func append(_ value: Int, _ count: Int) {
        block.bytes += block.encoded(value, count)
    }
}
