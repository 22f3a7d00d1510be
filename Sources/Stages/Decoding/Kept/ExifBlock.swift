import ImageModel

/// EXIF of a source (EXIF 2.32, 4.5; TIFF 6.0, section 2). Anyone may have written it: each number
/// is looked at before it is a place.
struct ExifBlock {
    private var block: TIFFBytes
    private let main: Directory

    private struct Directory {
        let start: Int
        let count: Int
        /// Of the link to the next one.
        var end: Int { entry(count) }

        func entry(_ index: Int) -> Int { start + 2 + TIFFBytes.entryBytes * index }
    }

    private enum Tag {
        static let orientation = 0x0112
        static let artist = 0x013B
        static let copyright = 0x8298
        /// Where a thumbnail lies, and how long it is: of a JPEG, and of samples.
        static let thumbnails = [(0x0201, 0x0202), (0x0111, 0x0117)]
    }

    private static let prefix = Array("Exif\0\0".utf8)
    private static let ascii = 2
    private static let short = 3
    private static let textBytesMax = 4096

    /// `nil` where there is no directory at its beginning.
    init?(_ block: UnsafeRawBufferPointer) {
        let bytes = Array(block.starts(with: Self.prefix) ? block.dropFirst(6) : block[...])
        guard bytes.count >= 8 else { return nil }
        switch Array(bytes[..<4]) {
        case [0x49, 0x49, 42, 0]: self.block = TIFFBytes(bytes, isBigEndian: false)
        case [0x4D, 0x4D, 0, 42]: self.block = TIFFBytes(bytes, isBigEndian: true)
        default: return nil
        }
        let start = self.block.number(4, 4)
        guard let main = Self.directory(at: start, self.block) else { return nil }
        self.main = main
    }

    /// All of it, but upright, and without the thumbnail, which shows other pixels.
    func upright() -> [UInt8] {
        var copy = self
        for index in 0..<main.count where tag(main.entry(index)) == Tag.orientation {
            copy.block.set(main.entry(index) + 2, Self.short, 2)
            copy.block.set(main.entry(index) + 4, 1, 4)
            copy.block.set(main.entry(index) + 8, 0, 4)
            copy.block.set(main.entry(index) + 8, 1, 2)
        }
        copy.dropThumbnail()
        return copy.block.bytes
    }

    /// A block of its own of artist and copyright; `nil` where it has neither.
    func rights() -> [UInt8]? {
        let made = Self.made(1, rightsOf: self)
        return made.isEmpty ? nil : made
    }

    /// A block of its own of an orientation, left out where that is 1, and of artist and copyright
    /// of another block; empty where there is nothing of these.
    static func made(_ orientation: Int, rightsOf block: ExifBlock?) -> [UInt8] {
        let texts = [Tag.artist, Tag.copyright].compactMap { tag in
            block?.text(tag).map { (tag, $0) }
        }
        let isTurned = orientation != 1
        let count = texts.count + (isTurned ? 1 : 0)
        guard count > 0 else { return [] }
        var entries: [UInt8] = TIFFBytes.little(count, 2)
        if isTurned {
            entries +=
                TIFFBytes.little(Tag.orientation, 2) + TIFFBytes.little(Self.short, 2)
                + TIFFBytes.little(1, 4) + TIFFBytes.little(orientation, 4)
        }
        var data: [UInt8] = []
        let place = 8 + 2 + TIFFBytes.entryBytes * count + 4
        for (tag, text) in texts {
            entries +=
                TIFFBytes.little(tag, 2) + TIFFBytes.little(Self.ascii, 2)
                + TIFFBytes.little(text.count, 4)
            if text.count <= 4 {
                entries += text + [UInt8](repeating: 0, count: 4 - text.count)
            } else {
                entries += TIFFBytes.little(place + data.count, 4)
                data += text + [UInt8](repeating: 0, count: text.count % 2)
            }
        }
        return [0x49, 0x49, 42, 0] + TIFFBytes.little(8, 4) + entries + TIFFBytes.little(0, 4)
            + data
    }

    // MARK: - Parts

    /// With the zero at its end.
    private func text(_ wanted: Int) -> [UInt8]? {
        for index in 0..<main.count {
            let entry = main.entry(index)
            let count = block.number(entry + 4, 4)
            guard tag(entry) == wanted, block.number(entry + 2, 2) == Self.ascii,
                (2...Self.textBytesMax).contains(count)
            else { continue }
            let start = count <= 4 ? entry + 8 : block.number(entry + 8, 4)
            guard start <= block.bytes.count - count else { continue }
            let text = block.bytes[start..<(start + count)].prefix { $0 != 0 }
            if !text.isEmpty { return text + [0] }
        }
        return nil
    }

    private mutating func dropThumbnail() {
        let next = block.number(main.end, 4)
        block.set(main.end, 0, 4)
        guard let second = Self.directory(at: next, block), second.start >= main.end else { return }
        let pictures = Tag.thumbnails.compactMap { place, length in
            value(place, in: second).flatMap { start in
                value(length, in: second).map { (start, $0) }
            }
        }
        erase(second.start, second.end + 4 - second.start)
        for (start, count) in pictures { erase(start, count) }
    }

    private func value(_ wanted: Int, in directory: Directory) -> Int? {
        let entry = (0..<directory.count).map(directory.entry).first { tag($0) == wanted }
        return entry.map { block.number($0 + 8, block.number($0 + 2, 2) == Self.short ? 2 : 4) }
    }

    /// Makes zeros of what lies behind the first directory; what is at the end goes.
    private mutating func erase(_ start: Int, _ count: Int) {
        guard start >= main.end + 4, start < block.bytes.count else { return }
        guard count < block.bytes.count - start else {
            block.bytes.removeLast(block.bytes.count - start)
            return
        }
        for place in start..<(start + count) { block.bytes[place] = 0 }
    }

    private func tag(_ entry: Int) -> Int { block.number(entry, 2) }

    /// One that lies within the bytes with its link.
    private static func directory(at start: Int, _ block: TIFFBytes) -> Directory? {
        guard let count = block.entryCount(ofDirectory: start), count > 0 else { return nil }
        return Directory(start: start, count: count)
    }
}
