// Where the formats say how large an image is; `nil` where it is not said.
extension HeaderBytes {
    /// Segments of a JPEG before its frame at most: with full ones that is more than 60 MB.
    private static let segmentsMax = 1_024

    /// IHDR is the first chunk (PNG specification, 11.2.2).
    package var pngSize: PixelSize? {
        guard bigEndian(7, at: 0) == 0x8950_4E47_0D0A_1A, byte(7) == 0x0A,
            bigEndian(4, at: 8) == 13, has("IHDR", at: 12),
            let width = bigEndian(4, at: 16), let height = bigEndian(4, at: 20),
            max(width, height) <= Int(Int32.max)
        else { return nil }
        return PixelSize(width: width, height: height)
    }

    /// Behind the signature (QOI specification, version 1.0).
    package var qoiSize: PixelSize? {
        guard has("qoif", at: 0), let width = bigEndian(4, at: 4), let height = bigEndian(4, at: 8),
            max(width, height) <= Int(Int32.max)
        else { return nil }
        return PixelSize(width: width, height: height)
    }

    /// Chunks of a PNG before its pixels at most.
    private static let chunksMax = 1_024

    /// acTL says it, in front of the pixels (PNG specification, third edition, 11.3.4.1); `nil` for
    /// a number that cannot be one of frames, with which it is a still image.
    package var pngFrames: Int? {
        guard let frames = pngChunk("acTL").flatMap({ bigEndian(4, at: $0) }),
            frames <= Int(Int32.max)
        else { return nil }
        return frames
    }

    /// The colors that a PNG states by numbers, the most precise statement first (PNG
    /// specification, third edition, 4.3): code points, of red, green and blue in full range; then
    /// a profile or sRGB, which are no numbers; then gamma, and chromaticities beside it.
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

    /// Where the content of a chunk begins that stands in front of the pixels.
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

    /// Where a chunk begins that has no pixels and says that it is longer than the rest of the
    /// file, so that a reader which believes it takes memory for what is not there (PNG, 5.3).
    package var pngChunkBeyondEnd: Int? {
        guard pngSize != nil else { return nil }
        var offset = 8
        while let length = bigEndian(4, at: offset) {
            // Whatever lies behind the end is nobody's.
            if has("IEND", at: offset + 4) { return nil }
            let hasPixels = has("IDAT", at: offset + 4) || has("fdAT", at: offset + 4)
            guard hasPixels || length == 0 || byte(offset + 8 + length - 1) != nil else {
                return offset
            }
            offset += 12 + length
        }
        return nil
    }

    /// Whether a WebP says that it is an animation (RFC 9649, 2.7.1).
    package var webPHasFrames: Bool {
        has("VP8X", at: 12) && byte(20).map { $0 & 2 != 0 } ?? false
    }

    /// The logical screen (GIF89a, 18).
    package var gifSize: PixelSize? {
        guard has("GIF87a", at: 0) || has("GIF89a", at: 0),
            let width = littleEndian(2, at: 6), let height = littleEndian(2, at: 8)
        else { return nil }
        return PixelSize(width: width, height: height)
    }

    /// The frame header, behind any number of other segments (ITU-T T.81, B.2.2).
    var jpegSize: PixelSize? {
        guard byte(0) == 0xFF, byte(1) == 0xD8 else { return nil }
        var offset = 2
        for _ in 0..<Self.segmentsMax {
            guard byte(offset) == 0xFF, let marker = byte(offset + 1) else { return nil }
            // Any number of them may fill the space before a marker.
            if marker == 0xFF {
                offset += 1
                continue
            }
            guard let length = bigEndian(2, at: offset + 2), length >= 2 else { return nil }
            switch marker {
            // Tables and an extension have numbers among those of frames.
            case 0xC4, 0xC8, 0xCC: break
            case 0xC0...0xCF: return jpegFrameSize(at: offset + 4, byteCount: length - 2)
            // Without a length, or behind the frame: none of them comes here.
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

    /// The first chunk says it, whichever of the three it is (RFC 9649, 2.5 to 2.7).
    package var webPSize: PixelSize? {
        guard has("RIFF", at: 0), has("WEBP", at: 8) else { return nil }
        if has("VP8X", at: 12) { return webPCanvas }
        if has("VP8L", at: 12) { return webPLosslessSize }
        return has("VP8 ", at: 12) ? webPFrameSize : nil
    }

    private var webPCanvas: PixelSize? {
        guard let width = littleEndian(3, at: 24), let height = littleEndian(3, at: 27) else {
            return nil
        }
        return PixelSize(width: width + 1, height: height + 1)
    }

    private var webPLosslessSize: PixelSize? {
        guard byte(20) == 0x2F, let bits = littleEndian(4, at: 21) else { return nil }
        return PixelSize(width: bits & 0x3FFF + 1, height: bits >> 14 & 0x3FFF + 1)
    }

    /// A key frame, as RFC 6386, 9.1 has it.
    private var webPFrameSize: PixelSize? {
        guard let tag = byte(20), tag & 1 == 0, bigEndian(3, at: 23) == 0x9D012A,
            let width = littleEndian(2, at: 26), let height = littleEndian(2, at: 28)
        else { return nil }
        return PixelSize(width: width & 0x3FFF, height: height & 0x3FFF)
    }
}
