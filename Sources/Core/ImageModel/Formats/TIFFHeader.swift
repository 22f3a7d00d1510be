/// How a TIFF file writes its numbers (TIFF 6.0, and BigTIFF).
private struct TIFFLayout {
    let isLittle: Bool
    /// Offsets and counts of entries are of 8 bytes.
    let isBig: Bool

    var offsetBytes: Int { isBig ? 8 : 4 }
    var countBytes: Int { isBig ? 8 : 2 }
    var entryBytes: Int { isBig ? 20 : 12 }
    /// From the start of an entry to its value.
    var valueOffset: Int { isBig ? 12 : 8 }
}

/// A directory of a TIFF file, which is one image of it.
private struct TIFFDirectory {
    /// Where its entries begin.
    let entries: Int
    let count: Int
}

private enum TIFFTag {
    static let width = 256
    static let height = 257
    static let newSubfileType = 254
    static let compression = 259
    static let photometric = 262
    static let luma = 529
    static let subsampling = 530
    static let references = 532
    static let subdirectories = 330
    static let dngVersion = 50_706
    /// What `photometric` is for samples of a sensor: a colour filter array, or linear raw.
    static let sensors: Set<Int> = [32_803, 34_892]
}

/// Samples of a TIFF that are Y, Cb and Cr, and not coded as a JPEG, whose decoder converts them.
package enum TIFFYCbCr: Hashable, Sendable {
    /// Each pixel has all three, in the numbers of JFIF.
    case whole
    /// Color has fewer samples, or other numbers.
    case other
}

extension HeaderBytes {
    /// Entries of a directory that are looked at, at most.
    private static let entriesMax = 1_024

    /// Whether a TIFF file is camera RAW: its first directory says so, or has a reduced image in
    /// front of others, which lie in directories below it. DNG, NEF and ARW are such files.
    var isCameraRaw: Bool {
        guard let layout = tiffLayout, let start = firstDirectory(layout),
            let directory = directory(at: start, layout)
        else { return false }
        var (isReduced, hasOthers) = (false, false)
        for index in 0..<min(directory.count, Self.entriesMax) {
            let entry = directory.entries + index * layout.entryBytes
            guard let tag = number(2, at: entry, layout) else { break }
            let value = entry + layout.valueOffset
            switch tag {
            case TIFFTag.dngVersion: return true
            case TIFFTag.photometric:
                if TIFFTag.sensors.contains(number(2, at: value, layout) ?? 0) { return true }
            case TIFFTag.newSubfileType:
                isReduced = (number(4, at: value, layout) ?? 0) & 1 == 1
            case TIFFTag.subdirectories: hasOthers = true
            default: break
            }
        }
        return isReduced && hasOthers
    }

    /// The samples of the first page (TIFF 6.0, section 21); `nil` for those of other colors.
    package var tiffYCbCr: TIFFYCbCr? {
        guard let layout = tiffLayout, let start = firstDirectory(layout),
            let directory = directory(at: start, layout)
        else { return nil }
        let (yCbCr, jpegs) = (6, [6, 7])
        var (isYCbCr, isJPEG, isWhole) = (false, false, false)
        var hasOtherNumbers = false
        for index in 0..<min(directory.count, Self.entriesMax) {
            let entry = directory.entries + index * layout.entryBytes
            let value = number(2, at: entry + layout.valueOffset, layout)
            switch number(2, at: entry, layout) {
            case TIFFTag.photometric: isYCbCr = value == yCbCr
            case TIFFTag.compression: isJPEG = value.map(jpegs.contains) ?? false
            case TIFFTag.subsampling:
                isWhole = value == 1 && number(2, at: entry + layout.valueOffset + 2, layout) == 1
            case TIFFTag.luma: hasOtherNumbers = true
            case TIFFTag.references:
                let place = number(layout.offsetBytes, at: entry + layout.valueOffset, layout)
                hasOtherNumbers = hasOtherNumbers || !isFullRange(at: place, layout)
            default: break
            }
        }
        guard isYCbCr, !isJPEG else { return nil }
        return isWhole && !hasOtherNumbers ? .whole : .other
    }

    /// Black and white of Y, Cb and Cr, as fractions: from 0, or for color from the middle, to 255.
    private func isFullRange(at place: Int?, _ layout: TIFFLayout) -> Bool {
        guard let place, place < 1 << 48 else { return false }
        for (index, wanted) in [0, 255, 128, 255, 128, 255].enumerated() {
            guard let value = number(4, at: place + 8 * index, layout),
                let divisor = number(4, at: place + 8 * index + 4, layout), divisor > 0,
                value == wanted * divisor
            else { return false }
        }
        return true
    }

    /// Pages of a TIFF file, counted up to `most` of them: a decoder reads every entry of each.
    /// Each directory counts once, as for decoders, although they may lie in a cycle.
    func tiffPages(upTo most: Int) -> Int {
        guard let layout = tiffLayout, var next = firstDirectory(layout) else { return 0 }
        var seen: Set<Int> = []
        while seen.count < most, next != 0, let directory = directory(at: next, layout),
            seen.insert(next).inserted
        {
            let end = directory.entries + directory.count * layout.entryBytes
            guard let following = number(layout.offsetBytes, at: end, layout) else { break }
            next = following
        }
        return seen.count
    }

    /// Columns and rows of the first page; `nil` where the file ends within its directory, which
    /// decoders refuse: what is missing may say something else.
    var tiffSize: PixelSize? {
        guard let layout = tiffLayout, let start = firstDirectory(layout),
            let directory = directory(at: start, layout),
            byte(directory.entries + directory.count * layout.entryBytes - 1) != nil
        else { return nil }
        var (width, height): (Int?, Int?)
        for index in 0..<min(directory.count, Self.entriesMax) {
            let entry = directory.entries + index * layout.entryBytes
            switch number(2, at: entry, layout) {
            case TIFFTag.width: width = side(at: entry, layout)
            case TIFFTag.height: height = side(at: entry, layout)
            default: break
            }
        }
        guard let width, let height, max(width, height) <= Int(Int32.max) else { return nil }
        return PixelSize(width: width, height: height)
    }

    /// A value of two bytes (SHORT) or four (LONG).
    private func side(at entry: Int, _ layout: TIFFLayout) -> Int? {
        switch number(2, at: entry + 2, layout) {
        case 3: number(2, at: entry + layout.valueOffset, layout)
        case 4: number(4, at: entry + layout.valueOffset, layout)
        default: nil
        }
    }

    private var tiffLayout: TIFFLayout? {
        let isLittle = has("II", at: 0)
        guard isLittle || has("MM", at: 0) else { return nil }
        switch isLittle ? littleEndian(2, at: 2) : bigEndian(2, at: 2) {
        case 42: return TIFFLayout(isLittle: isLittle, isBig: false)
        case 43: return TIFFLayout(isLittle: isLittle, isBig: true)
        default: return nil
        }
    }

    private func firstDirectory(_ layout: TIFFLayout) -> Int? {
        number(layout.offsetBytes, at: layout.offsetBytes, layout)
    }

    private func directory(at offset: Int, _ layout: TIFFLayout) -> TIFFDirectory? {
        guard let count = number(layout.countBytes, at: offset, layout), count <= 1 << 32 else {
            return nil
        }
        return TIFFDirectory(entries: offset + layout.countBytes, count: count)
    }

    /// Nil for what no file has, too.
    private func number(_ count: Int, at offset: Int, _ layout: TIFFLayout) -> Int? {
        guard count == 8 else {
            return layout.isLittle ? littleEndian(count, at: offset) : bigEndian(count, at: offset)
        }
        guard byte(layout.isLittle ? offset + 7 : offset) == 0 else { return nil }
        return layout.isLittle ? littleEndian(7, at: offset) : bigEndian(7, at: offset + 1)
    }
}

/// Bytes of a TIFF, as EXIF is one: numbers in the order that it has (TIFF 6.0, section 2). Whoever
/// asks has looked whether the place is there.
package struct TIFFBytes: Sendable {
    /// All of it.
    package var bytes: [UInt8]
    /// Whether the first byte of a number is its highest.
    package let isBigEndian: Bool

    /// Bytes of an entry of a directory.
    package static let entryBytes = 12

    /// Takes bytes of that order.
    package init(_ bytes: [UInt8], isBigEndian: Bool) {
        (self.bytes, self.isBigEndian) = (bytes, isBigEndian)
    }

    /// The number of `count` bytes at a place.
    package func number(_ place: Int, _ count: Int) -> Int {
        let part = bytes[place..<(place + count)]
        return isBigEndian
            ? part.reduce(0) { $0 << 8 | Int($1) } : part.reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    /// Replaces it.
    package mutating func set(_ place: Int, _ value: Int, _ count: Int) {
        bytes.replaceSubrange(place..<(place + count), with: encoded(value, count))
    }

    /// A number of `count` bytes in this order.
    package func encoded(_ value: Int, _ count: Int) -> [UInt8] {
        let little = Self.little(value, count)
        return isBigEndian ? little.reversed() : little
    }

    /// A number, its lowest byte first.
    package static func little(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    /// Entries of the directory that begins there; `nil` where it does not lie within the bytes
    /// with its link to the next one.
    package func entryCount(ofDirectory start: Int) -> Int? {
        guard start >= 8, start <= bytes.count - 2 else { return nil }
        let count = number(start, 2)
        return start + 2 + Self.entryBytes * count <= bytes.count - 4 ? count : nil
    }
}
