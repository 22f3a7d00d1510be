import Deflate
import JPEG
import Model

/// A file composed of parts of another one and of new bytes, before it is written.
///
/// The source is untrusted: parts must lie within it, and there are at most `partsMax`.
struct StrippedFile {
    private enum Part {
        case source(Range<Int>)
        case bytes([UInt8])
    }

    let source: UnsafeRawBufferPointer
    private var parts: [Part] = []
    /// The total size in bytes.
    private(set) var length = 0

    /// The maximum number of parts; a file that needs more is not composed.
    private static let partsMax = 1 << 16

    /// Creates a file without parts, or with all of the source.
    init(of source: UnsafeRawBufferPointer, isWhole: Bool = false) {
        self.source = source
        if isWhole { keep(0..<source.count) }
    }

    /// Whether the maximum was not exceeded.
    var isWhole: Bool { parts.count <= Self.partsMax }

    /// Appends these bytes of the source. Precondition: they lie within it.
    mutating func keep(_ range: Range<Int>) {
        precondition(range.upperBound <= source.count, "kept bytes must lie within the source")
        guard !range.isEmpty else { return }
        length += range.count
        if case .source(let last)? = parts.last, last.upperBound == range.lowerBound {
            parts[parts.count - 1] = .source(last.lowerBound..<range.upperBound)
        } else if isWhole {
            parts.append(.source(range))
        }
    }

    mutating func append(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        length += bytes.count
        if isWhole { parts.append(.bytes(bytes)) }
    }

    /// Appends another file composed of the same source.
    mutating func append(_ other: StrippedFile) {
        length += other.length
        if isWhole { parts += other.parts }
    }

    /// Writes it to the beginning of `memory`, which must have space for `length` bytes.
    func write(to memory: UnsafeMutableRawBufferPointer) {
        var place = 0
        for part in parts {
            let target = UnsafeMutableRawBufferPointer(rebasing: memory[place...])
            switch part {
            case .source(let range):
                target.copyMemory(from: UnsafeRawBufferPointer(rebasing: source[range]))
                place += range.count
            case .bytes(let bytes):
                target.copyBytes(from: bytes)
                place += bytes.count
            }
        }
    }
}

extension UnsafeRawBufferPointer {
    /// Reads a big-endian number of `count` bytes; the caller must have checked the bounds.
    func bigEndian(_ place: Int, _ count: Int) -> Int {
        self[place..<(place + count)].reduce(0) { $0 << 8 | Int($1) }
    }

    /// Reads a little-endian number of `count` bytes; the caller must have checked the bounds.
    func littleEndian(_ place: Int, _ count: Int) -> Int {
        self[place..<(place + count)].reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    /// Returns whether these ASCII characters are at this position.
    func has(_ text: StaticString, at place: Int) -> Bool {
        guard place >= 0, place <= count - text.utf8CodeUnitCount else { return false }
        let text = UnsafeRawBufferPointer(
            start: text.utf8Start, count: text.utf8CodeUnitCount)
        return self[place..<(place + text.count)].elementsEqual(text)
    }
}

/// Removes the metadata of a JPEG (ITU-T T.81, annex B): everything needed for pixels and colors
/// stays unchanged, byte for byte.
enum JPEGFile {
    private enum Marker {
        static let end: UInt8 = 0xD9
        static let scan: UInt8 = 0xDA
        static let application0: UInt8 = 0xE0
        static let profile: UInt8 = 0xE2
        static let adobe: UInt8 = 0xEE
        static let comment: UInt8 = 0xFE
    }

    /// Returns `nil` if the segments can't be followed to the end of the image. Data after it
    /// (other images, a video, a camera's trailer) is removed.
    static func stripped(
        _ file: UnsafeRawBufferPointer, keeping kept: PassThroughMetadata
    ) -> StrippedFile? {
        guard file.count >= 4, file[0] == 0xFF, file[1] == 0xD8 else { return nil }
        var result = StrippedFile(of: file)
        result.keep(0..<2)
        var (place, hasKept, hasScan) = (2, false, false)
        while let start = marker(file, place) {
            let marker = file[start + 1]
            if marker == Marker.end {
                result.keep(start..<(start + 2))
                return hasScan && result.isWhole ? result : nil
            }
            guard let end = end(ofSegment: start, file) else { return nil }
            let isJFIF = marker == Marker.application0 && file.has("JFIF\0", at: start + 4)
            if !hasKept {
                if isJFIF, start == 2 { result.append(jfif(file, start..<end)) }
                result.append(MetadataSegments.of(exif: kept.exif, xmp: kept.xmp, iptc: kept.iptc))
                hasKept = true
            }
            guard let isKept = isKept(marker, start, file) else { return nil }
            if marker == Marker.adobe, isKept {
                result.append(adobe(file, start))
            } else if isKept {
                result.keep(start..<end)
            }
            place = end
            guard marker == Marker.scan else { continue }
            hasScan = true
            place = JPEGBeginning.endOfScan(file, from: end)
            result.keep(end..<place)
        }
        return nil
    }

    /// Returns the position of the next marker after fill bytes; `nil` if there is none.
    private static func marker(_ file: UnsafeRawBufferPointer, _ from: Int) -> Int? {
        var place = from
        guard place < file.count, file[place] == 0xFF else { return nil }
        while place + 1 < file.count, file[place + 1] == 0xFF { place += 1 }
        return place + 1 < file.count ? place : nil
    }

    /// Returns the end of the segment with that marker; `nil` for a marker without a segment, or
    /// with a truncated one.
    private static func end(ofSegment start: Int, _ file: UnsafeRawBufferPointer) -> Int? {
        guard (0xC0...0xFE).contains(file[start + 1]), !(0xD0...0xD9).contains(file[start + 1]),
            start + 4 <= file.count
        else { return nil }
        let length = file.bigEndian(start + 2, 2)
        guard length >= 2, length <= file.count - start - 2 else { return nil }
        return start + 2 + length
    }

    /// Returns whether the segment is needed; `nil` for an unknown one.
    private static func isKept(
        _ marker: UInt8, _ start: Int, _ file: UnsafeRawBufferPointer
    ) -> Bool? {
        switch marker {
        case Marker.profile: file.has("ICC_PROFILE\0", at: start + 4)
        case Marker.adobe: file.has("Adobe", at: start + 4) && file.bigEndian(start + 2, 2) >= 14
        case 0xE0...0xEF, Marker.comment: false
        // Tables, frames, scans, restart interval, number of lines.
        case 0xC0...0xC7, 0xC9...0xCF, Marker.scan...0xDD: true
        default: nil
        }
    }

    /// JFIF (ISO/IEC 10918-5, 10.1) without its thumbnail.
    private static func jfif(_ file: UnsafeRawBufferPointer, _ segment: Range<Int>) -> [UInt8] {
        guard segment.count >= 18 else { return [] }
        let start = segment.lowerBound
        return [0xFF, Marker.application0, 0, 16] + file[(start + 4)..<(start + 16)] + [0, 0]
    }

    /// The color transform (ISO/IEC 10918-6, 6.5.3) without trailing data.
    private static func adobe(_ file: UnsafeRawBufferPointer, _ start: Int) -> [UInt8] {
        [0xFF, Marker.adobe, 0, 14] + file[(start + 4)..<(start + 16)]
    }
}

/// Removes the metadata of a PNG (PNG, third edition, section 5): everything needed for pixels,
/// frames and colors stays unchanged, byte for byte.
enum PNGFile {
    private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    /// The maximum data length of a chunk.
    private static let dataMax = 1 << 31 - 1

    /// The chunks to keep.
    private static let kept: Set<[UInt8]> = Set(
        [
            "IHDR", "PLTE", "IDAT", "IEND", "tRNS", "cHRM", "gAMA", "iCCP", "sBIT", "sRGB", "cICP",
            "mDCV", "cLLI", "bKGD", "pHYs", "acTL", "fcTL", "fdAT",
        ].map { Array($0.utf8) })

    /// Returns `nil` if the chunks can't be followed to the last one, or if there is an unknown
    /// critical chunk. Data after the last chunk is removed.
    static func stripped(
        _ file: UnsafeRawBufferPointer, keeping kept: PassThroughMetadata
    ) -> StrippedFile? {
        guard file.starts(with: signature), file.has("IHDR", at: 12) else { return nil }
        var result = StrippedFile(of: file)
        result.keep(0..<signature.count)
        var (place, hasPixels) = (signature.count, false)
        while place + 12 <= file.count {
            let length = file.bigEndian(place, 4)
            let type = Array(file[(place + 4)..<(place + 8)])
            guard length <= min(dataMax, file.count - place - 12) else { return nil }
            let end = place + 12 + length
            if Self.kept.contains(type) {
                result.keep(place..<end)
            } else if type[0] & 0x20 == 0 {
                return nil
            }
            if file.has("IHDR", at: place + 4) {
                result.append(CRC32.pngChunks(exif: kept.exif, xmp: kept.xmp))
            }
            hasPixels = hasPixels || file.has("IDAT", at: place + 4)
            if file.has("IEND", at: place + 4) { return hasPixels && result.isWhole ? result : nil }
            place = end
        }
        return nil
    }
}

/// Removes comments and application data of a GIF (GIF89a, sections 17 to 27): pixels, frames,
/// loops and colors stay unchanged, byte for byte.
enum GIFFile {
    private static let imageHeadBytes = 10
    private static let extensionHeadBytes = 2

    /// Returns `nil` if the blocks can't be followed to the trailer, or if there is a text to
    /// render. Data after the trailer is removed.
    static func stripped(_ file: UnsafeRawBufferPointer) -> StrippedFile? {
        guard file.count >= 13, file.has("GIF87a", at: 0) || file.has("GIF89a", at: 0) else {
            return nil
        }
        var place = 13 + colorBytes(file[10])
        guard place <= file.count else { return nil }
        var result = StrippedFile(of: file)
        result.keep(0..<place)
        var hasPixels = false
        while place < file.count {
            switch file[place] {
            case 0x3B:
                result.keep(place..<(place + 1))
                return hasPixels && result.isWhole ? result : nil
            case 0x2C:
                guard let end = endOfImage(file, place) else { return nil }
                result.keep(place..<end)
                (place, hasPixels) = (end, true)
            case 0x21:
                guard let end = endOfBlocks(file, place + extensionHeadBytes),
                    let isKept = isKept(file, place)
                else { return nil }
                if isKept { result.keep(place..<end) }
                place = end
            default: return nil
            }
        }
        return nil
    }

    /// Returns the size of a color table from the flags that declare it.
    static func colorBytes(_ packed: UInt8) -> Int {
        packed & 0x80 == 0 ? 0 : 3 << (Int(packed & 7) + 1)
    }

    private static func endOfImage(_ file: UnsafeRawBufferPointer, _ start: Int) -> Int? {
        guard start + imageHeadBytes <= file.count else { return nil }
        // The minimum code size follows the table.
        return endOfBlocks(
            file, start + imageHeadBytes + colorBytes(file[start + imageHeadBytes - 1]) + 1)
    }

    /// Returns the position after the block terminator of a sequence of blocks.
    private static func endOfBlocks(_ file: UnsafeRawBufferPointer, _ start: Int) -> Int? {
        var place = start
        while place < file.count {
            guard file[place] > 0 else { return place + 1 }
            place += 1 + Int(file[place])
        }
        return nil
    }

    /// Returns whether the extension is needed; `nil` for an unknown one and one that is rendered.
    private static func isKept(_ file: UnsafeRawBufferPointer, _ start: Int) -> Bool? {
        switch file[start + 1] {
        case 0xF9: true
        case 0xFE: false
        case 0xFF:
            file.has("NETSCAPE2.0", at: start + 3) || file.has("ANIMEXTS1.0", at: start + 3)
                || file.has("ICCRGBG1012", at: start + 3)
        default: nil
        }
    }
}

/// Removes the metadata of a WebP (RFC 9649, section 2): everything needed for pixels, frames and
/// colors stays unchanged, byte for byte.
enum WebPFile {
    private static let headBytes = 12
    private static let frameHeadBytes = 16
    private static let extendedBytes = 10
    private static let exifFlag: UInt8 = 0x08
    private static let xmpFlag: UInt8 = 0x04

    private struct Chunk {
        let start: Int
        /// The end of its data.
        let end: Int
        var data: Range<Int> { (start + 8)..<end }
    }

    /// Returns `nil` if the chunks can't be followed to the declared end of the file. Data after it
    /// is removed.
    static func stripped(
        _ file: UnsafeRawBufferPointer, keeping kept: PassThroughMetadata
    ) -> StrippedFile? {
        guard file.count >= headBytes, file.has("RIFF", at: 0), file.has("WEBP", at: 8) else {
            return nil
        }
        let end = 8 + file.littleEndian(4, 4)
        guard end <= file.count, let chunks = chunks(file, headBytes..<end),
            let first = chunks.first
        else { return nil }
        var body = StrippedFile(of: file)
        if file.has("VP8X", at: first.start) {
            guard first.data.count >= extendedBytes else { return nil }
            body.append(extended(file, first, kept))
            guard append(chunks.dropFirst(), of: file, to: &body) else { return nil }
            append("EXIF", kept.exif, to: &body)
            append("XMP ", kept.xmp, to: &body)
        } else {
            guard isOfPixels(file, first) else { return nil }
            append(first, to: &body)
        }
        var result = StrippedFile(of: file)
        let length = TIFFBytes.little(body.length + 4, 4)
        result.append(Array("RIFF".utf8) + length + Array("WEBP".utf8))
        result.append(body)
        return result.isWhole ? result : nil
    }

    /// Returns chunks that fill the range; the last one may lack its padding byte.
    private static func chunks(_ file: UnsafeRawBufferPointer, _ range: Range<Int>) -> [Chunk]? {
        var (chunks, place): ([Chunk], Int) = ([], range.lowerBound)
        while place < range.upperBound {
            guard place + 8 <= range.upperBound, chunks.count < 1 << 16 else { return nil }
            let length = file.littleEndian(place + 4, 4)
            guard length <= range.upperBound - place - 8 else { return nil }
            chunks.append(Chunk(start: place, end: place + 8 + length))
            place += 8 + length + length % 2
        }
        return chunks
    }

    /// Returns false for an invalid frame, or if nothing has pixels.
    private static func append(
        _ chunks: ArraySlice<Chunk>, of file: UnsafeRawBufferPointer, to body: inout StrippedFile
    ) -> Bool {
        var hasPixels = false
        for chunk in chunks {
            if file.has("ANMF", at: chunk.start) {
                guard let frame = frame(file, chunk) else { return false }
                body.append(frame)
                hasPixels = true
            } else if isOfPixels(file, chunk) {
                append(chunk, to: &body)
                hasPixels = true
            } else if file.has("ICCP", at: chunk.start) || file.has("ANIM", at: chunk.start)
                || file.has("ALPH", at: chunk.start)
            {
                append(chunk, to: &body)
            }
        }
        return hasPixels
    }

    /// Returns a frame of an animation with only its pixels.
    private static func frame(_ file: UnsafeRawBufferPointer, _ chunk: Chunk) -> StrippedFile? {
        guard chunk.data.count >= frameHeadBytes else { return nil }
        let start = chunk.data.lowerBound + frameHeadBytes
        guard let parts = chunks(file, start..<chunk.end) else { return nil }
        var body = StrippedFile(of: file)
        for part in parts where isOfPixels(file, part) || file.has("ALPH", at: part.start) {
            append(part, to: &body)
        }
        var frame = StrippedFile(of: file)
        frame.append(Array("ANMF".utf8) + TIFFBytes.little(body.length + frameHeadBytes, 4))
        frame.keep(chunk.data.lowerBound..<start)
        frame.append(body)
        return frame
    }

    private static func isOfPixels(_ file: UnsafeRawBufferPointer, _ chunk: Chunk) -> Bool {
        file.has("VP8 ", at: chunk.start) || file.has("VP8L", at: chunk.start)
    }

    /// The feature flags of the file (section 2.7.1) for the remaining chunks.
    private static func extended(
        _ file: UnsafeRawBufferPointer, _ chunk: Chunk, _ kept: PassThroughMetadata
    ) -> [UInt8] {
        var data = Array(file[chunk.data].prefix(extendedBytes))
        data[0] &= ~(exifFlag | xmpFlag)
        if !kept.exif.isEmpty { data[0] |= exifFlag }
        if !kept.xmp.isEmpty { data[0] |= xmpFlag }
        return Array("VP8X".utf8) + TIFFBytes.little(extendedBytes, 4) + data
    }

    private static func append(_ chunk: Chunk, to body: inout StrippedFile) {
        body.keep(chunk.start..<chunk.end)
        if chunk.data.count % 2 == 1 { body.append([0]) }
    }

    private static func append(_ name: String, _ data: [UInt8], to body: inout StrippedFile) {
        guard !data.isEmpty else { return }
        let padding = [UInt8](repeating: 0, count: data.count % 2)
        body.append(Array(name.utf8) + TIFFBytes.little(data.count, 4) + data + padding)
    }
}
