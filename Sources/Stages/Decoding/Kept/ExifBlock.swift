/// EXIF of a source (EXIF 2.32, 4.5; TIFF 6.0, section 2). Anyone may have written it: each number
/// is looked at before it is a place.
struct ExifBlock {
    private var bytes: [UInt8]
    private let isBigEndian: Bool
    private let main: Directory

    private struct Directory {
        let start: Int
        let count: Int
        /// Of the link to the next one.
        var end: Int { start + 2 + Self.entryBytes * count }

        static let entryBytes = 12
        func entry(_ index: Int) -> Int { start + 2 + Self.entryBytes * index }
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
        bytes = Array(block.starts(with: Self.prefix) ? block.dropFirst(6) : block[...])
        guard bytes.count >= 8 else { return nil }
        switch Array(bytes[..<4]) {
        case [0x49, 0x49, 42, 0]: isBigEndian = false
        case [0x4D, 0x4D, 0, 42]: isBigEndian = true
        default: return nil
        }
        let start = Self.number(bytes, 4, 4, isBigEndian)
        guard let main = Self.directory(at: start, bytes, isBigEndian) else { return nil }
        self.main = main
    }

    /// All of it, but upright, and without the thumbnail, which shows other pixels.
    func upright() -> [UInt8] {
        var block = self
        for index in 0..<main.count where tag(main.entry(index)) == Tag.orientation {
            block.set(main.entry(index) + 2, Self.short, 2)
            block.set(main.entry(index) + 4, 1, 4)
            block.set(main.entry(index) + 8, 0, 4)
            block.set(main.entry(index) + 8, 1, 2)
        }
        block.dropThumbnail()
        return block.bytes
    }

    /// A block of its own of artist and copyright; `nil` where it has neither.
    func rights() -> [UInt8]? {
        let texts = [Tag.artist, Tag.copyright].compactMap { tag in text(tag).map { (tag, $0) } }
        guard !texts.isEmpty else { return nil }
        var entries: [UInt8] = Self.little(texts.count, 2)
        var data: [UInt8] = []
        let place = 8 + 2 + Directory.entryBytes * texts.count + 4
        for (tag, text) in texts {
            entries += Self.little(tag, 2) + Self.little(Self.ascii, 2) + Self.little(text.count, 4)
            if text.count <= 4 {
                entries += text + [UInt8](repeating: 0, count: 4 - text.count)
            } else {
                entries += Self.little(place + data.count, 4)
                data += text + [UInt8](repeating: 0, count: text.count % 2)
            }
        }
        return [0x49, 0x49, 42, 0] + Self.little(8, 4) + entries + Self.little(0, 4) + data
    }

    // MARK: - Parts

    /// With the zero at its end.
    private func text(_ wanted: Int) -> [UInt8]? {
        for index in 0..<main.count {
            let entry = main.entry(index)
            let count = number(entry + 4, 4)
            guard tag(entry) == wanted, number(entry + 2, 2) == Self.ascii,
                (2...Self.textBytesMax).contains(count)
            else { continue }
            let start = count <= 4 ? entry + 8 : number(entry + 8, 4)
            guard start <= bytes.count - count else { continue }
            let text = bytes[start..<(start + count)].prefix { $0 != 0 }
            if !text.isEmpty { return text + [0] }
        }
        return nil
    }

    private mutating func dropThumbnail() {
        let next = number(main.end, 4)
        set(main.end, 0, 4)
        guard let second = Self.directory(at: next, bytes, isBigEndian),
            second.start >= main.end
        else { return }
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
        return entry.map { number($0 + 8, number($0 + 2, 2) == Self.short ? 2 : 4) }
    }

    /// Makes zeros of what lies behind the first directory; what is at the end goes.
    private mutating func erase(_ start: Int, _ count: Int) {
        guard start >= main.end + 4, start < bytes.count else { return }
        guard count < bytes.count - start else {
            bytes.removeLast(bytes.count - start)
            return
        }
        for place in start..<(start + count) { bytes[place] = 0 }
    }

    // MARK: - Numbers

    private func tag(_ entry: Int) -> Int { number(entry, 2) }

    private func number(_ place: Int, _ count: Int) -> Int {
        Self.number(bytes, place, count, isBigEndian)
    }

    private mutating func set(_ place: Int, _ value: Int, _ count: Int) {
        let little = Self.little(value, count)
        bytes.replaceSubrange(
            place..<(place + count), with: isBigEndian ? little.reversed() : little)
    }

    private static func number(
        _ bytes: [UInt8], _ place: Int, _ count: Int, _ isBigEndian: Bool
    ) -> Int {
        let part = bytes[place..<(place + count)]
        return isBigEndian
            ? part.reduce(0) { $0 << 8 | Int($1) } : part.reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    private static func little(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    /// One that lies within the bytes with its link.
    private static func directory(
        at start: Int, _ bytes: [UInt8], _ isBigEndian: Bool
    ) -> Directory? {
        guard start >= 8, start <= bytes.count - 2 else { return nil }
        let found = Directory(start: start, count: number(bytes, start, 2, isBigEndian))
        return found.count > 0 && found.end <= bytes.count - 4 ? found : nil
    }
}
