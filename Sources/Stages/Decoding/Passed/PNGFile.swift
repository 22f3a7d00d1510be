import Deflate

/// A PNG without its metadata (PNG, third edition, section 5): what its pixels, frames and colors
/// need stays as it is, byte for byte.
enum PNGFile {
    private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    /// The longest data of a chunk.
    private static let dataMax = 1 << 31 - 1

    /// Chunks that stay.
    private static let kept: Set<[UInt8]> = Set(
        [
            "IHDR", "PLTE", "IDAT", "IEND", "tRNS", "cHRM", "gAMA", "iCCP", "sBIT", "sRGB", "cICP",
            "mDCV", "cLLI", "bKGD", "pHYs", "acTL", "fcTL", "fdAT",
        ].map { Array($0.utf8) })

    /// `nil` where the chunks cannot be followed up to the last one, or one is critical and not
    /// known. What lies behind the last one is left out.
    static func stripped(
        _ file: UnsafeRawBufferPointer, keeping kept: PassedMetadata
    ) -> StrippedFile? {
        guard file.starts(with: signature), file.has("IHDR", at: 12) else { return nil }
        var made = StrippedFile(of: file)
        made.keep(0..<signature.count)
        var (place, hasPixels) = (signature.count, false)
        while place + 12 <= file.count {
            let length = file.bigEndian(place, 4)
            let type = Array(file[(place + 4)..<(place + 8)])
            guard length <= min(dataMax, file.count - place - 12) else { return nil }
            let end = place + 12 + length
            if Self.kept.contains(type) {
                made.keep(place..<end)
            } else if type[0] & 0x20 == 0 {
                return nil
            }
            if file.has("IHDR", at: place + 4) { made.append(chunks(kept)) }
            hasPixels = hasPixels || file.has("IDAT", at: place + 4)
            if file.has("IEND", at: place + 4) { return hasPixels && made.isWhole ? made : nil }
            place = end
        }
        return nil
    }

    private static func chunks(_ kept: PassedMetadata) -> [UInt8] {
        let exif = kept.exif.isEmpty ? [] : chunk("eXIf", kept.exif)
        let head = Array("XML:com.adobe.xmp\0".utf8) + [0, 0, 0, 0]
        return exif + (kept.xmp.isEmpty ? [] : chunk("iTXt", head + kept.xmp))
    }

    private static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
        let signed = Array(type.utf8) + data
        let sum = signed.withUnsafeBytes { CRC32.of($0) }
        return number(UInt32(data.count)) + signed + number(sum)
    }

    private static func number(_ value: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }
}
