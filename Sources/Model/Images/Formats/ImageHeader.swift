/// The format and the size of an encoded image, read from its first bytes.
///
/// Parsed from untrusted input without a codec, for processes that must not run one. Reads a
/// bounded number of parts of the file, each at most once.
public struct ImageHeader: Hashable, Sendable {
    /// The format, by its signature.
    public let format: ImageFormat
    /// Columns and rows as stored, both at least 1; an orientation is not applied.
    public let size: PixelSize

    /// Parses formats whose row has `storedSize`. Returns `nil` for all others and for images
    /// without pixels.
    public init?(_ bytes: Span<UInt8>) {
        let reader = HeaderBytes(bytes)
        let format = ImageFormat.sniff(reader.start(ImageFormat.signatureBytes), tail: [])
        guard let size = format.traits.storedSize?(reader), size.isPositive else { return nil }
        (self.format, self.size) = (format, size)
    }
}

/// Reads numbers from bytes that may be truncated anywhere.
package struct HeaderBytes: ~Escapable {
    private let bytes: Span<UInt8>

    @_lifetime(copy bytes)
    package init(_ bytes: Span<UInt8>) { self.bytes = bytes }

    /// Returns at most `count` bytes from the start.
    func start(_ count: Int) -> [UInt8] {
        bytes.indices.prefix(count).map { bytes[$0] }
    }

    /// Returns at most `count` bytes from the end.
    func end(_ count: Int) -> [UInt8] {
        bytes.indices.suffix(count).map { bytes[$0] }
    }

    /// Returns the byte at `offset`; `nil` past the end.
    package func byte(_ offset: Int) -> UInt8? {
        bytes.indices.contains(offset) ? bytes[offset] : nil
    }

    /// Returns whether the text is at `offset`.
    package func has(_ text: StaticString, at offset: Int) -> Bool {
        text.withUTF8Buffer { wanted in
            wanted.indices.allSatisfy { byte(offset + $0) == wanted[$0] }
        }
    }

    /// Reads a big-endian number of `count` bytes, at most seven.
    package func bigEndian(_ count: Int, at offset: Int) -> Int? {
        var value = 0
        for index in 0..<count {
            guard let byte = byte(offset + index) else { return nil }
            value = value << 8 | Int(byte)
        }
        return value
    }

    /// Reads a little-endian number of `count` bytes, at most seven.
    package func littleEndian(_ count: Int, at offset: Int) -> Int? {
        var value = 0
        for index in 0..<count {
            guard let byte = byte(offset + index) else { return nil }
            value |= Int(byte) << (8 * index)
        }
        return value
    }

    /// Reads a width and the height behind it, big-endian numbers of `count` bytes; `nil` if they
    /// are absent or exceed 2³¹ − 1.
    func sides(_ count: Int, at offset: Int) -> PixelSize? {
        guard let width = bigEndian(count, at: offset),
            let height = bigEndian(count, at: offset + count),
            max(width, height) <= Int(Int32.max)
        else { return nil }
        return PixelSize(width: width, height: height)
    }

    /// The same for little-endian numbers of at most three bytes.
    func littleSides(_ count: Int, at offset: Int) -> PixelSize? {
        guard let width = littleEndian(count, at: offset),
            let height = littleEndian(count, at: offset + count)
        else { return nil }
        return PixelSize(width: width, height: height)
    }
}

// Image sizes by format; `nil` if the size is not stated.
extension HeaderBytes {
    /// The maximum number of JPEG segments before the frame; full ones hold more than 60 MB.
    private static let segmentsMax = 1_024

    /// From IHDR, the first chunk (PNG specification, 11.2.2).
    package var pngSize: PixelSize? {
        guard bigEndian(7, at: 0) == 0x8950_4E47_0D0A_1A, byte(7) == 0x0A,
            bigEndian(4, at: 8) == 13, has("IHDR", at: 12)
        else { return nil }
        return sides(4, at: 16)
    }

    /// Follows the signature (QOI specification, version 1.0).
    package var qoiSize: PixelSize? {
        has("qoif", at: 0) ? sides(4, at: 4) : nil
    }

    /// The maximum number of PNG chunks before the pixels.
    private static let chunksMax = 1_024

    /// The number of frames, from the acTL chunk before the pixels (PNG specification, third
    /// edition, 11.3.4.1); `nil` if it is invalid, which makes the file a still image.
    package var pngFrames: Int? {
        guard let frames = pngChunk("acTL").flatMap({ bigEndian(4, at: $0) }),
            frames <= Int(Int32.max)
        else { return nil }
        return frames
    }

    /// The colors that a PNG states numerically, in order of precedence (PNG specification, third
    /// edition, 4.3): code points for full-range RGB; then a profile or sRGB, which are not
    /// numeric; then gamma with optional chromaticities.
    var pngColors: StatedColors? {
        if let start = pngChunk("cICP"), byte(start + 2) == 0, byte(start + 3) == 1,
            let primaries = bigEndian(1, at: start), let transfer = bigEndian(1, at: start + 1),
            primaries != 2, transfer != 2
        {
            return .cicp(primaries: primaries, transfer: transfer)
        }
        guard pngChunk("iCCP") == nil, pngChunk("sRGB") == nil,
            let gamma = pngChunk("gAMA").flatMap({ bigEndian(4, at: $0) }),
            (100...10_000_000).contains(gamma)
        else { return nil }
        return .measured(
            pngChunk("cHRM").flatMap { pngChromaticities(at: $0) },
            exponent: 100_000 / Double(gamma))
    }

    private func pngChromaticities(at start: Int) -> Chromaticities? {
        let numbers = (0..<8).compactMap { bigEndian(4, at: start + 4 * $0) }
        return numbers.count == 8 ? Chromaticities(numbers.map { Double($0) / 100_000 }) : nil
    }

    /// Returns the offset of the content of a chunk that precedes the pixels.
    private func pngChunk(_ type: StaticString) -> Int? {
        guard pngSize != nil else { return nil }
        var offset = 8
        for _ in 0..<Self.chunksMax {
            guard let length = bigEndian(4, at: offset), !has("IDAT", at: offset + 4) else {
                return nil
            }
            if has(type, at: offset + 4) { return offset + 8 }
            offset += 12 + length
        }
        return nil
    }

    /// The offset of a chunk other than pixel data whose length exceeds the rest of the file. A
    /// decoder that trusts the length would allocate memory for missing data (PNG, 5.3).
    package var pngChunkBeyondEnd: Int? {
        guard pngSize != nil else { return nil }
        var offset = 8
        while let length = bigEndian(4, at: offset) {
            // Bytes after the end chunk are ignored.
            if has("IEND", at: offset + 4) { return nil }
            let hasPixels = has("IDAT", at: offset + 4) || has("fdAT", at: offset + 4)
            guard hasPixels || length == 0 || byte(offset + 8 + length - 1) != nil else {
                return offset
            }
            offset += 12 + length
        }
        return nil
    }

    /// Whether a WebP is marked as an animation (RFC 9649, 2.7.1).
    package var webPHasFrames: Bool {
        has("VP8X", at: 12) && byte(20).map { $0 & 2 != 0 } ?? false
    }

    /// The logical screen size (GIF89a, 18).
    package var gifSize: PixelSize? {
        has("GIF87a", at: 0) || has("GIF89a", at: 0) ? littleSides(2, at: 6) : nil
    }

    /// From the frame header, after any number of other segments (ITU-T T.81, B.2.2).
    var jpegSize: PixelSize? {
        guard byte(0) == 0xFF, byte(1) == 0xD8 else { return nil }
        var offset = 2
        for _ in 0..<Self.segmentsMax {
            guard byte(offset) == 0xFF, let marker = byte(offset + 1) else { return nil }
            // Any number of fill bytes may precede a marker.
            if marker == 0xFF {
                offset += 1
                continue
            }
            guard let length = bigEndian(2, at: offset + 2), length >= 2 else { return nil }
            switch marker {
            // Tables and an extension have markers in the range of frame headers.
            case 0xC4, 0xC8, 0xCC: break
            case 0xC0...0xCF: return jpegFrameSize(at: offset + 4, byteCount: length - 2)
            // Markers without a length, or that may only follow the frame header.
            case 0x00, 0x01, 0xD0...0xDA: return nil
            default: break
            }
            offset += 2 + length
        }
        return nil
    }

    private func jpegFrameSize(at offset: Int, byteCount: Int) -> PixelSize? {
        guard byteCount >= 6, let height = bigEndian(2, at: offset + 1),
            let width = bigEndian(2, at: offset + 3)
        else { return nil }
        return PixelSize(width: width, height: height)
    }

    /// From the first chunk, whichever of the three kinds it is (RFC 9649, 2.5 to 2.7).
    package var webPSize: PixelSize? {
        guard has("RIFF", at: 0), has("WEBP", at: 8) else { return nil }
        if has("VP8X", at: 12) { return webPCanvas }
        if has("VP8L", at: 12) { return webPLosslessSize }
        return has("VP8 ", at: 12) ? webPFrameSize : nil
    }

    private var webPCanvas: PixelSize? {
        littleSides(3, at: 24).map { PixelSize(width: $0.width + 1, height: $0.height + 1) }
    }

    private var webPLosslessSize: PixelSize? {
        guard byte(20) == 0x2F, let bits = littleEndian(4, at: 21) else { return nil }
        return PixelSize(width: bits & 0x3FFF + 1, height: bits >> 14 & 0x3FFF + 1)
    }

    /// From a key frame (RFC 6386, 9.1).
    private var webPFrameSize: PixelSize? {
        guard let tag = byte(20), tag & 1 == 0, bigEndian(3, at: 23) == 0x9D012A,
            let sides = littleSides(2, at: 26)
        else { return nil }
        return PixelSize(width: sides.width & 0x3FFF, height: sides.height & 0x3FFF)
    }
}

/// The header of a Netpbm PAM image with raw pixels (pam(5)): lines of text, followed by the
/// samples, row by row from the top, interleaved, without padding.
///
/// The headers we write have a fixed size, so that the pixels are aligned like the block that holds
/// them.
public struct PixelMapHeader: Hashable, Sendable {
    /// Columns and rows.
    public let size: PixelSize
    /// Samples per pixel: 1 gray, 2 gray and alpha, 3 RGB, 4 RGBA.
    public let bands: Int

    /// The size in bytes of the header.
    public static let byteCount = 128

    /// Creates the header of pixels with 1 to 4 samples of 8 bits.
    package init(size: PixelSize, bands: Int) { (self.size, self.bands) = (size, bands) }

    /// Parses a header written by this library. Returns `nil` if there is none, or if the number of
    /// bytes does not match it.
    public init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count > Self.byteCount else { return nil }
        var words: [String: Int] = [:]
        let text = String(decoding: bytes[..<Self.byteCount], as: UTF8.self)
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: " ")
            if parts.count == 2, let value = Int(parts[1]) { words[String(parts[0])] = value }
        }
        guard let width = words["WIDTH"], let height = words["HEIGHT"], let bands = words["DEPTH"],
            (1...4).contains(bands), (1...Int(Int32.max)).contains(width),
            (1...Int(Int32.max)).contains(height)
        else { return nil }
        self.init(size: PixelSize(width: width, height: height), bands: bands)
        guard let count = sampleCount, bytes.count == Self.byteCount + count,
            self.bytes.elementsEqual(bytes[..<Self.byteCount])
        else { return nil }
    }

    /// The size in bytes of all samples; `nil` on overflow.
    public var sampleCount: Int? {
        guard let area = size.area else { return nil }
        let (count, overflow) = area.multipliedReportingOverflow(by: bands)
        return overflow ? nil : count
    }

    /// The serialized header.
    package var bytes: [UInt8] {
        let kinds = ["GRAYSCALE", "GRAYSCALE_ALPHA", "RGB", "RGB_ALPHA"]
        let start = """
            P7
            WIDTH \(size.width)
            HEIGHT \(size.height)
            DEPTH \(bands)
            MAXVAL 255
            TUPLTYPE \(kinds[bands - 1])

            """
        let end = "ENDHDR\n"
        // A comment pads the header to its fixed size.
        let padding = Self.byteCount - start.utf8.count - end.utf8.count - 2
        return Array((start + "#" + String(repeating: " ", count: padding) + "\n" + end).utf8)
    }
}

extension HeaderBytes {
    /// The maximum number of bytes of a PAM header in which the size must occur.
    private static let pamBytesMax = 512

    /// The size of a PAM from any writer.
    package var pamSize: PixelSize? {
        guard has("P7\n", at: 0) else { return nil }
        var (width, height): (Int?, Int?)
        var line: [UInt8] = []
        for place in 3..<Self.pamBytesMax {
            guard let byte = byte(place) else { return nil }
            guard byte == UInt8(ascii: "\n") else {
                line.append(byte)
                continue
            }
            let words = String(decoding: line, as: UTF8.self).split(separator: " ")
            switch (words.first, words.count) {
            case ("WIDTH", 2): width = Int(words[1])
            case ("HEIGHT", 2): height = Int(words[1])
            case ("ENDHDR", 1):
                guard let width, let height, width > 0, height > 0,
                    max(width, height) <= Int(Int32.max)
                else { return nil }
                return PixelSize(width: width, height: height)
            default: break
            }
            line.removeAll(keepingCapacity: true)
        }
        return nil
    }
}

/// The size of an SVG, read from its root element without rendering it (SVG 2, 7.2; CSS Images 3,
/// 4.2).
///
/// The input is untrusted. The size is only a hint for displaying the drawing: it is clamped, and
/// never an error.
package enum DrawingSize {
    /// The maximum number of bytes searched for the root element.
    private static let bytesMax = 64 << 10
    /// The default size in browsers.
    private static let defaultSize = PixelSize(width: 300, height: 150)

    /// Returns the size in CSS pixels, clamped to these limits and to at least 1 pixel.
    package static func of(
        _ document: some Collection<UInt8>, sideMax: Int, pixelsMax: Int
    ) -> PixelSize {
        var size = statedSize(Array(document.prefix(bytesMax))) ?? defaultSize
        while max(size.width, size.height) > sideMax || size.width > pixelsMax / size.height {
            size = PixelSize(width: max(1, size.width / 2), height: max(1, size.height / 2))
            if size == PixelSize(width: 1, height: 1) { break }
        }
        return size
    }

    private static func statedSize(_ document: [UInt8]) -> PixelSize? {
        guard let bytes = MarkupStart.rootTag(of: document) else { return nil }
        let tag = String(decoding: bytes, as: UTF8.self)
        let (width, height) = (length("width", tag), length("height", tag))
        let box =
            value("viewBox", tag)?.split { $0 == " " || $0 == "," }.compactMap { Double($0) } ?? []
        guard box.count == 4, box[2] > 0, box[3] > 0 else {
            return pixels(width ?? Double(defaultSize.width), height ?? Double(defaultSize.height))
        }
        switch (width, height) {
        case (let width?, let height?): return pixels(width, height)
        case (let width?, nil): return pixels(width, width * box[3] / box[2])
        case (nil, let height?): return pixels(height * box[2] / box[3], height)
        case (nil, nil): return pixels(box[2], box[3])
        }
    }

    private static func pixels(_ width: Double, _ height: Double) -> PixelSize {
        func side(_ value: Double) -> Int { Int(min(max(1, value.rounded()), 16_777_216)) }
        return PixelSize(width: side(width), height: side(height))
    }

    /// Returns a positive length in pixels; `nil` for other units and for percentages.
    private static func length(_ name: String, _ tag: String) -> Double? {
        guard var text = value(name, tag)?[...] else { return nil }
        if text.hasSuffix("px") { text = text.dropLast(2) }
        guard let number = Double(text), number > 0, number.isFinite else { return nil }
        return number
    }

    /// Returns the value of an attribute.
    private static func value(_ name: String, _ tag: String) -> String? {
        var rest = tag[...]
        while let equals = rest.firstIndex(of: "=") {
            let before = rest[..<equals].split(whereSeparator: \.isWhitespace).last ?? ""
            let behind = rest[rest.index(after: equals)...].drop(while: \.isWhitespace)
            guard let quote = behind.first, quote == "\"" || quote == "'" else { return nil }
            let body = behind.dropFirst()
            guard let end = body.firstIndex(of: quote) else { return nil }
            if before == name {
                return body[..<end].split(whereSeparator: \.isWhitespace).joined(separator: " ")
            }
            rest = body[body.index(after: end)...]
        }
        return nil
    }
}

/// The start of an XML document (XML 1.0, 2.8): the prolog and the name of the root element.
///
/// The input is untrusted and may not be XML at all. Each byte is read once.
struct MarkupStart {
    private let bytes: [UInt8]
    private var place = 0

    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Returns the name of the root element without a namespace prefix; `nil` if it is not complete
    /// within these bytes.
    static func root(of bytes: [UInt8]) -> String? {
        var start = MarkupStart(bytes: bytes)
        return start.root()
    }

    /// Returns the rest of the root element's start tag after its name; `nil` if the tag is not
    /// complete within these bytes.
    static func rootTag(of bytes: [UInt8]) -> ArraySlice<UInt8>? {
        var start = MarkupStart(bytes: bytes)
        guard start.root() != nil else { return nil }
        let first = start.place
        var quote: UInt8?
        while start.place < bytes.count {
            let byte = bytes[start.place]
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if byte == UInt8(ascii: ">") {
                return bytes[first..<start.place]
            }
            start.place += 1
        }
        return nil
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private mutating func root() -> String? {
        _ = accept(Self.byteOrderMark)
        while true {
            skip(while: Self.isSpace)
            if accept(Array("<?".utf8)) {
                guard skip(behind: Array("?>".utf8)) else { return nil }
            } else if accept(Array("<!--".utf8)) {
                guard skip(behind: Array("-->".utf8)) else { return nil }
            } else if accept(Array("<!DOCTYPE".utf8)) {
                guard skipDocumentType() else { return nil }
            } else {
                return accept([UInt8(ascii: "<")]) ? name() : nil
            }
        }
    }

    /// Skips to the end of the document type declaration, including brackets and quotes in it.
    private mutating func skipDocumentType() -> Bool {
        var isInBrackets = false
        while place < bytes.count {
            let byte = bytes[place]
            place += 1
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                guard skip(behind: [byte]) else { return false }
            case UInt8(ascii: "["): isInBrackets = true
            case UInt8(ascii: "]"): isInBrackets = false
            case UInt8(ascii: ">") where !isInBrackets: return true
            default: break
            }
        }
        return false
    }

    private mutating func name() -> String? {
        let start = place
        skip { !Self.isSpace($0) && $0 != UInt8(ascii: ">") && $0 != UInt8(ascii: "/") }
        guard place < bytes.count, place > start else { return nil }
        let whole = bytes[start..<place]
        let colon = whole.lastIndex(of: UInt8(ascii: ":"))
        return String(decoding: colon.map { whole[($0 + 1)...] } ?? whole, as: UTF8.self)
    }

    private mutating func accept(_ text: [UInt8]) -> Bool {
        guard bytes[place...].starts(with: text) else { return false }
        place += text.count
        return true
    }

    private mutating func skip(while holds: (UInt8) -> Bool) {
        while place < bytes.count, holds(bytes[place]) { place += 1 }
    }

    /// Skips past the next occurrence of `text`; returns false if there is none.
    private mutating func skip(behind text: [UInt8]) -> Bool {
        while place < bytes.count {
            if accept(text) { return true }
            place += 1
        }
        return false
    }

    private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }
}
