import Model
import Vips

/// The metadata of a source that is embedded in results, in the form permitted for them.
struct RetainedMetadata {
    private var parts: [(kind: EmbeddedMetadata.Kind, bytes: [UInt8])] = []

    /// Reads the requested metadata of the source. Parts that are too large or unreadable are
    /// omitted.
    init(of source: SourceImage, _ kept: KeptParts) throws {
        guard !kept.isEmpty else { return }
        let image = try source.openHeader()
        append(.profile, Self.profile(of: source, kept))
        if kept.contains(.metadata) {
            append(.exif, image.withEXIF { ExifBlock($0)?.upright() } ?? nil)
            append(.xmp, image.withXMP { XMPOrientation.upright($0) } ?? nil)
            append(.iptc, image.withIPTC { IPTCRecords($0)?.all } ?? nil)
        } else if kept.contains(.rights) {
            append(.exif, image.withEXIF { ExifBlock($0)?.rights() } ?? nil)
            append(.xmp, image.withXMP { XMPRights.read($0) } ?? nil)
            append(.iptc, image.withIPTC { IPTCRecords($0)?.rights } ?? nil)
        }
    }

    /// Whether it contains a profile, so that the pixels must not be converted.
    var hasProfile: Bool { parts.contains { $0.kind == .profile } }

    /// The total size in bytes.
    var byteCount: Int { parts.reduce(0) { $0 + $1.bytes.count } }

    /// Writes the parts one after the other and returns their locations; `memory` must have enough
    /// space from `offset`.
    func write(to memory: UnsafeMutableRawBufferPointer, from offset: Int) -> [EmbeddedMetadata] {
        var end = offset
        return parts.map { part in
            let embedded = EmbeddedMetadata(kind: part.kind, offset: end, length: part.bytes.count)
            UnsafeMutableRawBufferPointer(rebasing: memory[end...]).copyBytes(from: part.bytes)
            end += part.bytes.count
            return embedded
        }
    }

    private mutating func append(_ kind: EmbeddedMetadata.Kind, _ bytes: [UInt8]?) {
        guard let bytes, (1...kind.bytesMax).contains(bytes.count) else { return }
        parts.append((kind, bytes))
    }

    /// Returns a profile that applies to the unconverted samples.
    private static func profile(of source: SourceImage, _ kept: KeptParts) -> [UInt8]? {
        // Numeric color information replaces a profile.
        guard source.samples(kept).hdr == nil, let profile = source.profile else { return nil }
        let isKept =
            switch profile.space {
            case .rgb:
                kept.contains(.profile) && [.rgb, .rgb16].contains(source.header.color)
            case .gray: kept.contains(.grayProfile)
            case .cmyk: false
            }
        return isKept ? profile.bytes : nil
    }
}

/// The metadata kept in a file that is passed through: its orientation, and author and copyright if
/// the request keeps them.
struct PassThroughMetadata {
    /// An EXIF block without a prefix; may be empty.
    private(set) var exif: [UInt8] = []
    private(set) var xmp: [UInt8] = []
    private(set) var iptc: [UInt8] = []

    /// - Throws: The errors of reading the header.
    init(of source: SourceImage, _ choice: MetadataChoice) throws {
        let image = try source.openHeader()
        let keepsRights = choice == .copyright
        let orientation = source.orientation.exif
        exif =
            image.withEXIF {
                ExifBlock.encode(orientation, rightsOf: keepsRights ? ExifBlock($0) : nil)
            } ?? ExifBlock.encode(orientation, rightsOf: nil)
        guard keepsRights else { return }
        xmp = Self.fitting(image.withXMP { XMPRights.read($0) } ?? nil)
        iptc = Self.fitting(image.withIPTC { IPTCRecords($0)?.rights } ?? nil)
    }

    private static func fitting(_ bytes: [UInt8]?) -> [UInt8] {
        guard let bytes, bytes.count <= bytesMax else { return [] }
        return bytes
    }

    /// The maximum size of a block, as for metadata besides pixels (SEMANTICS §11.22).
    private static let bytesMax = 65_500
}

/// The EXIF data of a source (EXIF 2.32, 4.5; TIFF 6.0, section 2). Untrusted: every offset is
/// validated before use.
struct ExifBlock {
    private var block: TIFFBytes
    private let main: Directory

    private struct Directory {
        let start: Int
        let count: Int
        /// The offset of the link to the next directory.
        var end: Int { entry(count) }

        func entry(_ index: Int) -> Int { start + 2 + TIFFBytes.entryBytes * index }
    }

    private enum Tag {
        static let orientation = 0x0112
        static let artist = 0x013B
        static let copyright = 0x8298
        /// The tags of a thumbnail's offset and length: for JPEG, and for samples.
        static let thumbnails = [(0x0201, 0x0202), (0x0111, 0x0117)]
    }

    private static let prefix = Array("Exif\0\0".utf8)
    private static let ascii = 2
    private static let short = 3
    private static let textBytesMax = 4096

    /// Returns `nil` if it doesn't begin with a directory.
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

    /// Returns the block with an upright orientation, and without the thumbnail, which shows
    /// different pixels.
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

    /// Returns a block with only artist and copyright; `nil` if there is neither.
    func rights() -> [UInt8]? {
        let encoded = Self.encode(1, rightsOf: self)
        return encoded.isEmpty ? nil : encoded
    }

    /// Returns a block with only an orientation, omitted if it is 1, and the artist and copyright
    /// of another block; empty if there are none of these.
    static func encode(_ orientation: Int, rightsOf block: ExifBlock?) -> [UInt8] {
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

    /// Returns a text including its terminating zero.
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

    /// Overwrites data after the first directory with zeros, or removes it at the end of the block.
    private mutating func erase(_ start: Int, _ count: Int) {
        guard start >= main.end + 4, start < block.bytes.count else { return }
        guard count < block.bytes.count - start else {
            block.bytes.removeLast(block.bytes.count - start)
            return
        }
        for place in start..<(start + count) { block.bytes[place] = 0 }
    }

    private func tag(_ entry: Int) -> Int { block.number(entry, 2) }

    /// Returns a directory that lies completely within the bytes, with its link.
    private static func directory(at start: Int, _ block: TIFFBytes) -> Directory? {
        guard let count = block.entryCount(ofDirectory: start), count > 0 else { return nil }
        return Directory(start: start, count: count)
    }
}

/// The IPTC-IIM records (version 4.2, chapter 1), either directly as in TIFF, or in Photoshop
/// resources as in JPEG.
struct IPTCRecords {
    /// The bytes of all records.
    let all: [UInt8]

    private static let mark: UInt8 = 0x1C
    private static let photoshop = Array("Photoshop 3.0\0".utf8)
    private static let resource = Array("8BIM".utf8)
    private static let iptc = 0x0404

    /// Returns `nil` if there are none.
    init?(_ bytes: UnsafeRawBufferPointer) {
        let bytes = Array(bytes)
        let found =
            bytes.starts(with: Self.photoshop)
            ? Self.records(in: bytes[Self.photoshop.count...]) : bytes[...]
        guard let found, found.first == Self.mark else { return nil }
        all = Array(found)
    }

    /// The by-line and copyright notice records, and the one for their character set; `nil` if
    /// there is neither.
    var rights: [UInt8]? {
        var (kept, hasRights): ([UInt8], Bool) = ([], false)
        var place = 0
        while place + 5 <= all.count, all[place] == Self.mark {
            let length = Int(all[place + 3]) << 8 | Int(all[place + 4])
            let end = place + 5 + length
            guard length < 0x8000, end <= all.count else { break }
            let isOfRights = all[place + 1] == 2 && [80, 116].contains(all[place + 2])
            let isOfCharacters = all[place + 1] == 1 && all[place + 2] == 90
            if isOfRights || isOfCharacters { kept += all[place..<end] }
            hasRights = hasRights || isOfRights
            place = end
        }
        return hasRights ? kept : nil
    }

    /// A resource consists of a signature, a number, a name and data, the latter two padded to an
    /// even size.
    private static func records(in resources: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        var rest = resources
        while rest.starts(with: resource), rest.count >= 12 {
            let number = Int(rest[rest.startIndex + 4]) << 8 | Int(rest[rest.startIndex + 5])
            let name = 1 + Int(rest[rest.startIndex + 6])
            rest = rest.dropFirst(6 + name + name % 2)
            guard rest.count >= 4 else { return nil }
            let count = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(4)
            guard count <= rest.count else { return nil }
            if number == iptc { return rest.prefix(count) }
            rest = rest.dropFirst(count + count % 2)
        }
        return nil
    }
}

/// Extracts author and copyright from an XMP packet (`dc:creator` and `dc:rights`, XMP
/// specification part 1, 8.3).
///
/// The packet is untrusted: it is searched for texts in the items of these two properties, with the
/// usual namespace prefixes, without parsing its structure.
enum XMPRights {
    private static let textBytesMax = 4096
    private static let itemsMax = 16

    /// Returns a packet with only these properties; `nil` if the source has neither.
    static func read(_ packet: UnsafeRawBufferPointer) -> [UInt8]? {
        guard packet.count <= XMPOrientation.bytesMax else { return nil }
        let creators = items(of: "dc:creator", packet)
        let rights = items(of: "dc:rights", packet).prefix(1)
        guard !creators.isEmpty || !rights.isEmpty else { return nil }
        return Array(head.utf8)
            + list("dc:creator", "rdf:Seq", "<rdf:li>", creators)
            + list("dc:rights", "rdf:Alt", "<rdf:li xml:lang=\"x-default\">", Array(rights))
            + Array(foot.utf8)
    }

    private static let head =
        "<?xpacket begin=\"\u{FEFF}\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>"
        + "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\">"
        + "<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">"
        + "<rdf:Description rdf:about=\"\" xmlns:dc=\"http://purl.org/dc/elements/1.1/\">"
    private static let foot =
        "</rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end=\"r\"?>"

    private static func list(
        _ name: String, _ kind: String, _ item: String, _ texts: [[UInt8]]
    ) -> [UInt8] {
        guard !texts.isEmpty else { return [] }
        let items = texts.flatMap { Array(item.utf8) + $0 + Array("</rdf:li>".utf8) }
        return Array("<\(name)><\(kind)>".utf8) + items + Array("</\(kind)></\(name)>".utf8)
    }

    /// Returns the raw texts between `<rdf:li…>` and the next `<` within the property.
    private static func items(of name: String, _ bytes: UnsafeRawBufferPointer) -> [[UInt8]] {
        guard let start = bytes.place(of: Array("<\(name)".utf8), from: 0),
            let end = bytes.place(of: Array("</\(name)>".utf8), from: start)
        else { return [] }
        var (items, place): ([[UInt8]], Int) = ([], start)
        while items.count < itemsMax,
            let item = bytes.place(of: Array("<rdf:li".utf8), from: place), item < end,
            let open = bytes[item..<end].firstIndex(of: UInt8(ascii: ">")),
            let close = bytes[open...].firstIndex(of: UInt8(ascii: "<"))
        {
            let text = Array(bytes[(open + 1)..<close])
            if isText(text) { items.append(text) }
            place = close
        }
        return items
    }

    private static func isText(_ bytes: [UInt8]) -> Bool {
        (1...textBytesMax).contains(bytes.count) && bytes.allSatisfy { $0 >= 0x20 }
            && String(validating: bytes, as: UTF8.self) != nil
    }
}

extension UnsafeRawBufferPointer {
    /// Returns the first position of `part`, which isn't empty, from `start` on.
    fileprivate func place(of part: [UInt8], from start: Int) -> Int? {
        guard start <= count - part.count else { return nil }
        return (start...(count - part.count)).first { place in
            self[place] == part[0] && self[place...].starts(with: part)
        }
    }
}

/// Finds the orientation in an XMP packet (`tiff:Orientation`, XMP specification part 2).
///
/// The packet is untrusted: a bounded part of it is searched for this one property, as an attribute
/// or an element, without parsing its structure.
struct XMPOrientation {
    static let bytesMax = 64 << 10
    private static let prefixMax = 32
    private static let namespace = Array("http://ns.adobe.com/tiff/1.0/".utf8)
    private static let property = Array(":Orientation".utf8)

    private let bytes: UnsafeRawBufferPointer

    /// Returns 1 to 8, or nil if there is no valid value.
    static func read(_ packet: UnsafeRawBufferPointer) -> Int? {
        Self(packet).places(atMost: 1).first.map { Int(packet[$0]) - Int(UInt8(ascii: "0")) }
    }

    /// Returns the packet with its orientation set to upright; `nil` if it is too long to be
    /// searched.
    static func upright(_ packet: UnsafeRawBufferPointer) -> [UInt8]? {
        guard packet.count <= bytesMax else { return nil }
        var upright = Array(packet)
        for place in Self(packet).places(atMost: .max) { upright[place] = UInt8(ascii: "1") }
        return upright
    }

    private init(_ packet: UnsafeRawBufferPointer) {
        bytes = UnsafeRawBufferPointer(rebasing: packet.prefix(Self.bytesMax))
    }

    /// Returns the positions of the property's digits.
    private func places(atMost most: Int) -> [Int] {
        guard let prefix = prefix() else { return [] }
        let name = prefix + Self.property
        var (places, start): ([Int], Int) = ([], 0)
        while places.count < most, let found = bytes.place(of: name, from: start) {
            start = found + name.count
            if isBoundary(found - 1), let place = value(start) { places.append(place) }
        }
        return places
    }

    /// Returns the prefix of the namespace: `tiff` in `xmlns:tiff="http://ns.adobe.com/tiff/1.0/"`.
    private func prefix() -> [UInt8]? {
        guard let found = bytes.place(of: Self.namespace, from: 0) else { return nil }
        var end = found - 1
        guard end > 0, isQuote(end) else { return nil }
        repeat { end -= 1 } while end > 0 && (isSpace(end) || bytes[end] == UInt8(ascii: "="))
        var start = end
        while start > 0, end - start < Self.prefixMax, bytes[start] != UInt8(ascii: ":") {
            start -= 1
        }
        guard bytes[start] == UInt8(ascii: ":"), start < end else { return nil }
        return Array(bytes[(start + 1)...end])
    }

    /// Returns the position of the digit in `="3"` or `>3<`, with optional spaces.
    private func value(_ start: Int) -> Int? {
        let sign = afterSpaces(start)
        guard sign < bytes.count else { return nil }
        switch bytes[sign] {
        case UInt8(ascii: "="):
            let quote = afterSpaces(sign + 1)
            guard quote < bytes.count, isQuote(quote) else { return nil }
            return digit(quote + 1, before: bytes[quote])
        case UInt8(ascii: ">"): return digit(afterSpaces(sign + 1), before: UInt8(ascii: "<"))
        default: return nil
        }
    }

    private func digit(_ place: Int, before end: UInt8) -> Int? {
        guard place < bytes.count else { return nil }
        let value = Int(bytes[place]) - Int(UInt8(ascii: "0"))
        let next = afterSpaces(place + 1)
        guard (1...8).contains(value), next < bytes.count, bytes[next] == end else { return nil }
        return place
    }

    private func afterSpaces(_ start: Int) -> Int {
        var place = start
        while place < bytes.count, isSpace(place) { place += 1 }
        return place
    }

    private func isBoundary(_ place: Int) -> Bool {
        place >= 0 && (isSpace(place) || bytes[place] == UInt8(ascii: "<"))
    }

    private func isSpace(_ place: Int) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(bytes[place]) }

    private func isQuote(_ place: Int) -> Bool { [0x22, 0x27].contains(bytes[place]) }
}
