/// A box of ISO/IEC 14496-12: its type, and where what is in it lies.
struct Box {
    let type: Int
    let content: Range<Int>
}

/// Types of boxes, which are four letters.
enum BoxType {
    static let meta = 0x6D65_7461
    static let primaryItem = 0x7069_746D
    static let itemInformation = 0x6969_6E66
    static let itemLocations = 0x696C_6F63
    static let itemReferences = 0x6972_6566
    static let derivedFrom = 0x6469_6D67
    static let itemProperties = 0x6970_7270
    static let propertyContainer = 0x6970_636F
    static let propertyAssociation = 0x6970_6D61
    static let spatialExtents = 0x6973_7065
    static let colours = 0x636F_6C72
    static let codestream = 0x6A78_6C63
    static let partialCodestream = 0x6A78_6C70
    static let movie = 0x6D6F_6F76
    static let track = 0x7472_616B
    static let trackHeader = 0x746B_6864
    static let trackReferences = 0x7472_6566
    static let auxiliaryOf = 0x6175_786C
    static let auxiliaryKind = 0x6175_7869
    static let edits = 0x6564_7473
    static let editList = 0x656C_7374
    static let media = 0x6D64_6961
    static let mediaHeader = 0x6D64_6864
    static let handler = 0x6864_6C72
    static let mediaInformation = 0x6D69_6E66
    static let sampleTable = 0x7374_626C
    static let sampleDescription = 0x7374_7364
    static let sampleSizes = 0x7374_737A
    static let sampleTimes = 0x7374_7473
    static let samplesOfChunks = 0x7374_7363
    static let chunkOffsets = 0x7374_636F
    static let av1 = 0x6176_3031
    static let longChunkOffsets = 0x636F_3634
}

extension HeaderBytes {
    /// Boxes within one, items and properties of an item, at most.
    static let partsMax = 256
    /// Version and flags, which begin the boxes that are looked into.
    static let versionBytes = 4

    /// The size of what is displayed of a HEIF file, as it is coded, before it is turned: of the
    /// frames of an AVIF sequence; else the extents of the primary item (ISO/IEC 23008-12, 6.5.3),
    /// or of the frames where there is no such item.
    package var heifSize: PixelSize? {
        shownFrames.map(\.size) ?? primaryItemSize
    }

    /// The frames that are displayed in place of a primary item.
    private var shownFrames: PictureTrack? {
        avifSequence?.main ?? (hasPrimaryItem ? nil : pictureSequence?.main)
    }

    private var primaryItemSize: PixelSize? {
        for property in primaryProperties where property.type == BoxType.spatialExtents {
            let start = property.content.lowerBound + Self.versionBytes
            guard let width = bigEndian(4, at: start), let height = bigEndian(4, at: start + 4),
                max(width, height) <= Int(Int32.max)
            else { return nil }
            return PixelSize(width: width, height: height)
        }
        return nil
    }

    /// The colors of the frames of an AVIF sequence, or of a file's primary item, by code points
    /// (ISO/IEC 14496-12, 12.1.5).
    var heifColors: StatedColors? {
        let properties = shownFrames.map { boxes(in: $0.entry) } ?? primaryProperties
        for property in properties where property.type == BoxType.colours {
            let start = property.content.lowerBound
            guard has("nclx", at: start), let primaries = bigEndian(2, at: start + 4),
                let transfer = bigEndian(2, at: start + 6)
            else { continue }
            return .nclx(primaries: primaries, transfer: transfer)
        }
        return nil
    }

    /// Whether a HEIF file says that it is an AVIF as well, whatever its major brand is.
    package var hasAVIFBrand: Bool {
        brandPlaces.contains { has("avif", at: $0) || has("avis", at: $0) }
    }

    /// Where the file says its major brand, and those with which it is compatible.
    var brandPlaces: [Int] {
        guard has("ftyp", at: 4), let size = bigEndian(4, at: 0) else { return [] }
        return [8] + stride(from: 16, to: min(size, 4 * Self.partsMax), by: 4)
    }

    /// Whether a HEIF file has an image besides its tracks.
    package var hasPrimaryItem: Bool {
        box(BoxType.meta, in: 0..<Int.max).flatMap { primaryItem(in: $0) } != nil
    }

    /// Of the primary item of a HEIF file, in their order.
    private var primaryProperties: [Box] {
        guard let meta = box(BoxType.meta, in: 0..<Int.max),
            let item = primaryItem(in: meta),
            let properties = box(BoxType.itemProperties, in: meta.dropFirst(Self.versionBytes)),
            let container = box(BoxType.propertyContainer, in: properties),
            let association = box(BoxType.propertyAssociation, in: properties)
        else { return [] }
        let known = boxes(in: container)
        return self.properties(of: item, in: association).compactMap { index in
            known.indices.contains(index - 1) ? known[index - 1] : nil
        }
    }

    /// Where the codestream of a JPEG XL begins, in boxes or without (ISO/IEC 18181-2).
    /// Of one in parts it is the first of them.
    var jxlCodestream: Range<Int>? {
        if bigEndian(2, at: 0) == 0xFF0A { return 0..<Int.max }
        if let whole = box(BoxType.codestream, in: 0..<Int.max) { return whole }
        // A number comes before each part.
        return box(BoxType.partialCodestream, in: 0..<Int.max)?.dropFirst(4)
    }

    /// The next part of the codestream of a JPEG XL, behind the box that ends there.
    func jxlPart(behind end: Int) -> Range<Int>? {
        guard end < .max, let part = box(BoxType.partialCodestream, in: end..<Int.max)?.dropFirst(4)
        else { return nil }
        return part.isEmpty ? nil : part
    }

    private func primaryItem(in meta: Range<Int>) -> Int? {
        guard let box = box(BoxType.primaryItem, in: meta.dropFirst(Self.versionBytes)),
            let version = byte(box.lowerBound)
        else { return nil }
        return bigEndian(version == 0 ? 2 : 4, at: box.lowerBound + Self.versionBytes)
    }

    /// The numbers of its properties, from 1 on (ISO/IEC 14496-12, 8.11.14).
    private func properties(of item: Int, in association: Range<Int>) -> [Int] {
        let start = association.lowerBound
        guard let version = byte(start), let flags = byte(start + 3),
            let entries = bigEndian(4, at: start + Self.versionBytes)
        else { return [] }
        let (idBytes, indexBytes) = (version == 0 ? 2 : 4, flags & 1 == 0 ? 1 : 2)
        var offset = start + Self.versionBytes + 4
        for _ in 0..<min(entries, Self.partsMax) {
            guard let id = bigEndian(idBytes, at: offset), let count = byte(offset + idBytes)
            else { return [] }
            offset += idBytes + 1
            if id == item {
                return (0..<Int(count)).compactMap { place in
                    // The highest bit says that a reader has to know the property.
                    bigEndian(indexBytes, at: offset + place * indexBytes)
                        .map { $0 & (1 << (8 * indexBytes - 1) - 1) }
                }
            }
            offset += Int(count) * indexBytes
        }
        return []
    }

    /// What is in the first box of a type.
    func box(_ type: Int, in range: Range<Int>) -> Range<Int>? {
        boxes(in: range).first { $0.type == type }?.content
    }

    /// The boxes in a part of the file, in their order; those that it has, where one is cut off or
    /// has no possible size.
    func boxes(in range: Range<Int>) -> [Box] {
        var boxes: [Box] = []
        var offset = range.lowerBound
        while boxes.count < Self.partsMax, offset < range.upperBound,
            let short = bigEndian(4, at: offset), let type = bigEndian(4, at: offset + 4)
        {
            // 1: the size follows in eight bytes; 0: up to the end of the file.
            let isLong = short == 1
            let long =
                isLong && bigEndian(2, at: offset + 8) == 0
                ? bigEndian(6, at: offset + 10) : nil
            let header = isLong ? 16 : 8
            let size = isLong ? long ?? 0 : short == 0 ? range.upperBound - offset : short
            guard size >= header, size <= range.upperBound - offset else { break }
            boxes.append(Box(type: type, content: (offset + header)..<(offset + size)))
            offset += size
        }
        return boxes
    }
}

extension Range<Int> {
    func dropFirst(_ count: Int) -> Range<Int> {
        Swift.min(lowerBound + count, upperBound)..<upperBound
    }
}

extension HeaderBytes {
    /// Bytes in which a HEIF file says what its items are, in all. libavif 0.11 looks for an item
    /// among all of them for each entry, so that its time grows with the square of their number.
    private static let itemBytesMax = 128 << 10

    /// Whether its items are no more than those of a grid of some thousand tiles. One with more
    /// boxes than are looked at has too many.
    package var hasFewItems: Bool {
        let tracks = box(BoxType.movie, in: 0..<Int.max).map { boxes(in: $0) } ?? []
        let places = [0..<Int.max] + tracks.filter { $0.type == BoxType.track }.map(\.content)
        var bytes = 0
        for place in places {
            for meta in boxes(in: place) where meta.type == BoxType.meta {
                let parts = boxes(in: meta.content.dropFirst(Self.versionBytes))
                guard parts.count < Self.partsMax else { return false }
                for part in parts { bytes += itemBytes(part) }
            }
        }
        return tracks.count < Self.partsMax && bytes <= Self.itemBytesMax
    }

    private func itemBytes(_ part: Box) -> Int {
        switch part.type {
        case BoxType.itemInformation, BoxType.itemLocations, BoxType.itemReferences:
            part.content.count
        case BoxType.itemProperties:
            boxes(in: part.content).filter { $0.type == BoxType.propertyAssociation }
                .reduce(0) { $0 + $1.content.count }
        default: 0
        }
    }
}

/// Bytes of an AVIF that a reader takes in place of those that are there, since libavif 0.11 reads
/// the boxes of some files in another way than their specification (ISO/IEC 23008-12).
package struct AVIFPatches {
    /// Tiles that get the places of others, and bytes of these places.
    private static let (movesMax, movedBytesMax) = (4_096, 1 << 20)

    /// Each at the offset of its first byte.
    package private(set) var all: [(offset: Int, bytes: [UInt8])] = []

    /// Those of a file, of which none is needed as a rule.
    ///
    /// - Parameter tracks: whether its tracks are to be read, or its primary image.
    package init(_ file: borrowing HeaderBytes, ofTracks tracks: Bool) {
        if tracks {
            disownTracks(file)
        } else {
            hideTracks(file)
            orderTiles(file)
        }
    }

    /// Of a file that says it is a sequence libavif reads no image where its tracks are damaged.
    private mutating func hideTracks(_ file: borrowing HeaderBytes) {
        for place in file.brandPlaces where file.has("avis", at: place) {
            all.append((place, Array("avif".utf8)))
        }
    }

    /// libavif takes any track that belongs to the frames for their alpha, such as one of depths.
    /// A track that belongs to one that is not there is none of theirs.
    private mutating func disownTracks(_ file: borrowing HeaderBytes) {
        for track in file.pictureTracks where !track.isAlpha {
            guard let owner = track.ownerPlace else { continue }
            all.append((owner, [UInt8](repeating: 0xFF, count: 4)))
        }
    }

    /// libavif takes the tiles of a grid in the order in which the file first names them, and not
    /// in that of the reference (6.6.2.3). Where these differ, tiles get the places of others.
    private mutating func orderTiles(_ file: borrowing HeaderBytes) {
        guard let meta = file.box(BoxType.meta, in: 0..<Int.max) else { return }
        let boxes = file.boxes(in: meta.dropFirst(HeaderBytes.versionBytes))
        guard let references = boxes.first(where: { $0.type == BoxType.itemReferences }),
            let locations = boxes.first(where: { $0.type == BoxType.itemLocations })
        else { return }
        let places = file.itemPlaces(locations.content)
        let named = places.map(\.item)
        var moved = 0
        for wanted in file.derivations(references.content) {
            let isWanted = Set(wanted)
            let taken = named.filter { isWanted.contains($0) }
            // A tile that is named twice has no place of its own.
            guard taken != wanted, taken.count == wanted.count, isWanted.count == wanted.count,
                Set(taken) == isWanted
            else { continue }
            let places = Dictionary(
                places.map { ($0.item, $0.range) }, uniquingKeysWith: { first, _ in first })
            let moves = zip(taken, wanted).compactMap { taken, wanted in
                places[taken].flatMap { to in places[wanted].map { (from: $0, to: to) } }
            }
            moved += moves.reduce(0) { $0 + $1.from.count }
            guard moves.allSatisfy({ $0.from.count == $0.to.count }),
                all.count + moves.count <= Self.movesMax, moved <= Self.movedBytesMax
            else { continue }
            move(file, moves)
        }
    }

    private mutating func move(
        _ file: borrowing HeaderBytes, _ moves: [(from: Range<Int>, to: Range<Int>)]
    ) {
        for (from, to) in moves where from != to {
            var bytes: [UInt8] = []
            for offset in from { bytes.append(file.byte(offset) ?? 0) }
            all.append((to.lowerBound, bytes))
        }
    }
}

extension HeaderBytes {
    /// Items, tiles of one and places of one at most.
    private static let itemsMax = 4_096

    /// The items that others are made of, in order, for each of these (ISO/IEC 23008-12, 6.4.7).
    fileprivate func derivations(_ references: Range<Int>) -> [[Int]] {
        guard let version = byte(references.lowerBound) else { return [] }
        let idBytes = version == 0 ? 2 : 4
        let found = boxes(in: references.dropFirst(Self.versionBytes))
        return found.filter { $0.type == BoxType.derivedFrom }.map { reference in
            let start = reference.content.lowerBound + idBytes
            let count = min(bigEndian(2, at: start) ?? 0, Self.itemsMax)
            return (0..<count).compactMap { bigEndian(idBytes, at: start + 2 + idBytes * $0) }
        }
    }

    /// Where a file says in which bytes each item lies (ISO/IEC 14496-12, 8.11.3), behind the
    /// number of the item; none where an entry cannot be.
    fileprivate func itemPlaces(_ locations: Range<Int>) -> [(item: Int, range: Range<Int>)] {
        let start = locations.lowerBound
        guard let version = byte(start), version <= 2, let sizes = bigEndian(2, at: start + 4)
        else { return [] }
        let idBytes = version == 2 ? 4 : 2
        let extentBytes =
            (sizes >> 12) + (sizes >> 8 & 15) + (version == 0 ? 0 : sizes & 15)
        let countPlace = (version == 0 ? 2 : 4) + (sizes >> 4 & 15)
        var offset = start + 6 + idBytes
        var places: [(item: Int, range: Range<Int>)] = []
        for _ in 0..<min(bigEndian(idBytes, at: start + 6) ?? 0, Self.itemsMax) {
            let body = offset + idBytes
            guard let item = bigEndian(idBytes, at: offset),
                let extents = bigEndian(2, at: body + countPlace)
            else { return [] }
            offset = body + countPlace + 2 + extents * extentBytes
            guard offset <= locations.upperBound, byte(offset - 1) != nil else { return [] }
            places.append((item, body..<offset))
        }
        return places
    }
}
