/// A box of ISO/IEC 14496-12: its type and the range of its content.
struct Box {
    let type: Int
    let content: Range<Int>
}

/// Box types, which are four-character codes.
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
    static let colors = 0x636F_6C72
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
    /// The maximum number of boxes in a box, of items, and of properties of an item.
    static let partsMax = 256
    /// The size of version and flags, with which full boxes begin.
    static let versionBytes = 4

    /// The size of the displayed image of a HEIF file, as coded and before rotation: of the frames
    /// of an AVIF sequence, otherwise the spatial extents of the primary item (ISO/IEC 23008-12,
    /// 6.5.3), or of the frames if there is no primary item.
    package var heifSize: PixelSize? {
        shownFrames.map(\.size) ?? primaryItemSize
    }

    /// The frames that are displayed instead of a primary item.
    private var shownFrames: PictureTrack? {
        avifSequence?.main ?? (hasPrimaryItem ? nil : pictureSequence?.main)
    }

    private var primaryItemSize: PixelSize? {
        for property in primaryProperties where property.type == BoxType.spatialExtents {
            return sides(4, at: property.content.lowerBound + Self.versionBytes)
        }
        return nil
    }

    /// The colors of the frames of an AVIF sequence, or of the primary item, as code points
    /// (ISO/IEC 14496-12, 12.1.5).
    var heifColors: StatedColors? {
        let properties = shownFrames.map { boxes(in: $0.entry) } ?? primaryProperties
        for property in properties where property.type == BoxType.colors {
            let start = property.content.lowerBound
            guard has("nclx", at: start), let primaries = bigEndian(2, at: start + 4),
                let transfer = bigEndian(2, at: start + 6)
            else { continue }
            return .nclx(primaries: primaries, transfer: transfer)
        }
        return nil
    }

    /// Whether a HEIF file is also declared as AVIF, whatever its major brand.
    package var hasAVIFBrand: Bool {
        brandPlaces.contains { has("avif", at: $0) || has("avis", at: $0) }
    }

    /// The offsets of the major brand and the compatible brands.
    var brandPlaces: [Int] {
        guard has("ftyp", at: 4), let size = bigEndian(4, at: 0) else { return [] }
        return [8] + stride(from: 16, to: min(size, 4 * Self.partsMax), by: 4)
    }

    /// Whether a HEIF file has an image in addition to its tracks.
    package var hasPrimaryItem: Bool {
        box(BoxType.meta, in: 0..<Int.max).flatMap { primaryItem(in: $0) } != nil
    }

    /// The properties of the primary item of a HEIF file, in order.
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

    /// The range of a JPEG XL codestream, with or without a container (ISO/IEC 18181-2). For a
    /// codestream in several parts, the range of the first one.
    var jxlCodestream: Range<Int>? {
        if bigEndian(2, at: 0) == 0xFF0A { return 0..<Int.max }
        if let whole = box(BoxType.codestream, in: 0..<Int.max) { return whole }
        // A sequence number precedes each part.
        return box(BoxType.partialCodestream, in: 0..<Int.max)?.dropFirst(4)
    }

    /// Returns the next part of a JPEG XL codestream, after the box that ends at `end`.
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

    /// Returns the property indices of an item, counted from 1 (ISO/IEC 14496-12, 8.11.14).
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
                    // The highest bit marks the property as essential.
                    bigEndian(indexBytes, at: offset + place * indexBytes)
                        .map { $0 & (1 << (8 * indexBytes - 1) - 1) }
                }
            }
            offset += Int(count) * indexBytes
        }
        return []
    }

    /// Returns the content of the first box of a type.
    func box(_ type: Int, in range: Range<Int>) -> Range<Int>? {
        boxes(in: range).first { $0.type == type }?.content
    }

    /// Returns the boxes in a range of the file, in order, up to the first one that is truncated or
    /// has an invalid size.
    func boxes(in range: Range<Int>) -> [Box] {
        var boxes: [Box] = []
        var offset = range.lowerBound
        while boxes.count < Self.partsMax, offset < range.upperBound,
            let short = bigEndian(4, at: offset), let type = bigEndian(4, at: offset + 4)
        {
            // 1: a 64-bit size follows; 0: the box extends to the end of the file.
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
    /// The maximum total size of the item tables of a HEIF file. libavif 0.11 searches all items
    /// for each entry, so its running time is quadratic in their number.
    private static let itemBytesMax = 128 << 10

    /// Whether there are no more items than in a grid of a few thousand tiles. False if there are
    /// more boxes than are parsed.
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

/// Bytes to substitute while an AVIF is read, because libavif 0.11 interprets some boxes
/// differently from their specification (ISO/IEC 23008-12).
package struct AVIFPatches {
    /// The maximum number of tiles whose locations are exchanged, and the maximum size of these
    /// locations in bytes.
    private static let (movesMax, movedBytesMax) = (4_096, 1 << 20)

    /// The patches, each at the offset of its first byte.
    package private(set) var all: [(offset: Int, bytes: [UInt8])] = []

    /// Creates the patches of a file. Most files need none.
    ///
    /// - Parameter tracks: whether the tracks are to be read rather than the primary image.
    package init(_ file: borrowing HeaderBytes, ofTracks tracks: Bool) {
        if tracks {
            disownTracks(file)
        } else {
            hideTracks(file)
            orderTiles(file)
        }
    }

    /// libavif can't read the image of a file declared as a sequence if its tracks are damaged.
    private mutating func hideTracks(_ file: borrowing HeaderBytes) {
        for place in file.brandPlaces where file.has("avis", at: place) {
            all.append((place, Array("avif".utf8)))
        }
    }

    /// libavif mistakes any auxiliary track of the frames for alpha, such as a depth map. Pointing
    /// such a track at a nonexistent owner detaches it.
    private mutating func disownTracks(_ file: borrowing HeaderBytes) {
        for track in file.pictureTracks where !track.isAlpha {
            guard let owner = track.ownerPlace else { continue }
            all.append((owner, [UInt8](repeating: 0xFF, count: 4)))
        }
    }

    /// libavif reads the tiles of a grid in the order in which the file first mentions them rather
    /// than in reference order (6.6.2.3). If these differ, tile locations are exchanged.
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
            // A tile that is used twice has no location of its own.
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
    /// The maximum number of items, tiles per item, and extents per item.
    private static let itemsMax = 4_096

    /// Returns, for each derived item, the items it is composed of, in order (ISO/IEC 23008-12,
    /// 6.4.7).
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

    /// Returns the range of the file that holds the location entry of each item (ISO/IEC 14496-12,
    /// 8.11.3), after the item ID; empty if an entry is invalid.
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
