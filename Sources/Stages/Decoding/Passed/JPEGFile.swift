import StageContract

/// A JPEG without its metadata (ITU-T T.81, annex B): what its pixels and colors need stays as it
/// is, byte for byte.
enum JPEGFile {
    private enum Marker {
        static let end: UInt8 = 0xD9
        static let scan: UInt8 = 0xDA
        static let application0: UInt8 = 0xE0
        static let profile: UInt8 = 0xE2
        static let adobe: UInt8 = 0xEE
        static let comment: UInt8 = 0xFE
    }

    /// `nil` where the segments cannot be followed up to the end of the image. What lies behind
    /// that (other images, a film, a trailer of a camera) is left out.
    static func stripped(
        _ file: UnsafeRawBufferPointer, keeping kept: PassedMetadata
    ) -> StrippedFile? {
        guard file.count >= 4, file[0] == 0xFF, file[1] == 0xD8 else { return nil }
        var made = StrippedFile(of: file)
        made.keep(0..<2)
        var (place, hasKept, hasScan) = (2, false, false)
        while let start = marker(file, place) {
            let marker = file[start + 1]
            if marker == Marker.end {
                made.keep(start..<(start + 2))
                return hasScan && made.isWhole ? made : nil
            }
            guard let end = end(ofSegment: start, file) else { return nil }
            let isJFIF = marker == Marker.application0 && file.has("JFIF\0", at: start + 4)
            if !hasKept {
                if isJFIF, start == 2 { made.append(jfif(file, start..<end)) }
                made.append(MetadataSegments.of(exif: kept.exif, xmp: kept.xmp, iptc: kept.iptc))
                hasKept = true
            }
            guard let isKept = isKept(marker, start, file) else { return nil }
            if marker == Marker.adobe, isKept {
                made.append(adobe(file, start))
            } else if isKept {
                made.keep(start..<end)
            }
            place = end
            guard marker == Marker.scan else { continue }
            hasScan = true
            place = endOfScan(file, from: end)
            made.keep(end..<place)
        }
        return nil
    }

    /// Where the next marker begins, behind bytes that fill; `nil` where there is none.
    private static func marker(_ file: UnsafeRawBufferPointer, _ from: Int) -> Int? {
        var place = from
        guard place < file.count, file[place] == 0xFF else { return nil }
        while place + 1 < file.count, file[place + 1] == 0xFF { place += 1 }
        return place + 1 < file.count ? place : nil
    }

    /// The end of the segment with that marker; `nil` of a marker without one, or with one that is
    /// not there.
    private static func end(ofSegment start: Int, _ file: UnsafeRawBufferPointer) -> Int? {
        guard (0xC0...0xFE).contains(file[start + 1]), !(0xD0...0xD9).contains(file[start + 1]),
            start + 4 <= file.count
        else { return nil }
        let length = file.bigEndian(start + 2, 2)
        guard length >= 2, length <= file.count - start - 2 else { return nil }
        return start + 2 + length
    }

    /// Whether the segment is needed; `nil` of one of which nobody knows.
    private static func isKept(
        _ marker: UInt8, _ start: Int, _ file: UnsafeRawBufferPointer
    ) -> Bool? {
        switch marker {
        case Marker.profile: file.has("ICC_PROFILE\0", at: start + 4)
        case Marker.adobe: file.has("Adobe", at: start + 4) && file.bigEndian(start + 2, 2) >= 14
        case 0xE0...0xEF, Marker.comment: false
        // Tables, frames, scans, the interval of restarts, the number of lines.
        case 0xC0...0xC7, 0xC9...0xCF, Marker.scan...0xDD: true
        default: nil
        }
    }

    /// Behind the data of a scan: at a marker that is none of a restart, or at the end.
    private static func endOfScan(_ file: UnsafeRawBufferPointer, from start: Int) -> Int {
        var place = start
        while place + 1 < file.count {
            guard file[place] == 0xFF else {
                place += 1
                continue
            }
            switch file[place + 1] {
            case 0x00, 0xD0...0xD7: place += 2
            case 0xFF: place += 1
            default: return place
            }
        }
        return file.count
    }

    /// JFIF (ISO/IEC 10918-5, 10.1) without its small image.
    private static func jfif(_ file: UnsafeRawBufferPointer, _ segment: Range<Int>) -> [UInt8] {
        guard segment.count >= 18 else { return [] }
        let start = segment.lowerBound
        return [0xFF, Marker.application0, 0, 16] + file[(start + 4)..<(start + 16)] + [0, 0]
    }

    /// How colors were transformed (ISO/IEC 10918-6, 6.5.3), and nothing behind it.
    private static func adobe(_ file: UnsafeRawBufferPointer, _ start: Int) -> [UInt8] {
        [0xFF, Marker.adobe, 0, 14] + file[(start + 4)..<(start + 16)]
    }
}
