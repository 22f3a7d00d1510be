/// The byte order and field widths of a TIFF file (TIFF 6.0 and BigTIFF).
private struct TIFFLayout {
    let isLittle: Bool
    /// Whether offsets and counts are 8 bytes wide.
    let isBig: Bool

    var offsetBytes: Int { isBig ? 8 : 4 }
    var countBytes: Int { isBig ? 8 : 2 }
    var entryBytes: Int { isBig ? 20 : 12 }
    /// The offset of the value within an entry.
    var valueOffset: Int { isBig ? 12 : 8 }
}

/// A directory of a TIFF file, which describes one of its images.
private struct TIFFDirectory {
    /// The offset of its entries.
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
    /// The values of `photometric` for sensor data: color filter array and linear raw.
    static let sensors: Set<Int> = [32_803, 34_892]
}

/// The kind of YCbCr samples in a TIFF. JPEG-coded samples are excluded because the decoder
/// converts them.
package enum TIFFYCbCr: Hashable, Sendable {
    /// Full resolution and full range as in JFIF.
    case whole
    /// Subsampled color, or another range.
    case other
}

extension HeaderBytes {
    /// The maximum number of directory entries that are parsed.
    private static let entriesMax = 1_024

    /// Whether a TIFF file is camera raw: its first directory is sensor data, or a reduced image
    /// with others in subdirectories. DNG, NEF and ARW are such files.
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

    /// The samples of the first page (TIFF 6.0, section 21); `nil` for other color models.
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

    /// Returns whether the reference black and white are full range: 0 to 255, and for color from
    /// the middle to 255.
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

    /// Counts the pages of a TIFF file, up to `most`, because a decoder reads every entry of each.
    /// As in decoders, each directory counts once even if they form a cycle.
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

    /// The size of the first page; `nil` if the file ends within its directory. Decoders reject
    /// such a file, since missing entries could change the size.
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

    /// Reads a value of two bytes (SHORT) or four (LONG).
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

    /// Returns nil also for numbers that no valid file contains.
    private func number(_ count: Int, at offset: Int, _ layout: TIFFLayout) -> Int? {
        guard count == 8 else {
            return layout.isLittle ? littleEndian(count, at: offset) : bigEndian(count, at: offset)
        }
        guard byte(layout.isLittle ? offset + 7 : offset) == 0 else { return nil }
        return layout.isLittle ? littleEndian(7, at: offset) : bigEndian(7, at: offset + 1)
    }
}

/// The bytes of a TIFF structure, such as EXIF, with numbers in its byte order (TIFF 6.0, section
/// 2). Callers must check offsets before access.
package struct TIFFBytes: Sendable {
    package var bytes: [UInt8]
    /// Whether numbers are big-endian.
    package let isBigEndian: Bool

    /// The size in bytes of a directory entry.
    package static let entryBytes = 12

    /// Wraps bytes of that byte order.
    package init(_ bytes: [UInt8], isBigEndian: Bool) {
        (self.bytes, self.isBigEndian) = (bytes, isBigEndian)
    }

    /// Returns the number of `count` bytes at an offset.
    package func number(_ place: Int, _ count: Int) -> Int {
        let part = bytes[place..<(place + count)]
        return isBigEndian
            ? part.reduce(0) { $0 << 8 | Int($1) } : part.reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    /// Overwrites the number of `count` bytes at an offset.
    package mutating func set(_ place: Int, _ value: Int, _ count: Int) {
        bytes.replaceSubrange(place..<(place + count), with: encoded(value, count))
    }

    /// Encodes a number of `count` bytes in this byte order.
    package func encoded(_ value: Int, _ count: Int) -> [UInt8] {
        let little = Self.little(value, count)
        return isBigEndian ? little.reversed() : little
    }

    /// Encodes a number in little-endian order.
    package static func little(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    /// Returns the number of entries of the directory at `start`; `nil` unless it is completely
    /// within the bytes, including the link to the next one.
    package func entryCount(ofDirectory start: Int) -> Int? {
        guard start >= 8, start <= bytes.count - 2 else { return nil }
        let count = number(start, 2)
        return start + 2 + Self.entryBytes * count <= bytes.count - 4 ? count : nil
    }
}
