/// A GIF without comments and data of applications (GIF89a, sections 17 to 27): its pixels, frames,
/// loops and colors stay as they are, byte for byte.
enum GIFFile {
    private static let imageHeadBytes = 10
    private static let extensionHeadBytes = 2

    /// `nil` where the blocks cannot be followed up to the trailer, or a text is drawn. What lies
    /// behind the trailer is left out.
    static func stripped(_ file: UnsafeRawBufferPointer) -> StrippedFile? {
        guard file.count >= 13, file.has("GIF87a", at: 0) || file.has("GIF89a", at: 0) else {
            return nil
        }
        var place = 13 + colorBytes(file[10])
        guard place <= file.count else { return nil }
        var made = StrippedFile(of: file)
        made.keep(0..<place)
        var hasPixels = false
        while place < file.count {
            switch file[place] {
            case 0x3B:
                made.keep(place..<(place + 1))
                return hasPixels && made.isWhole ? made : nil
            case 0x2C:
                guard let end = endOfImage(file, place) else { return nil }
                made.keep(place..<end)
                (place, hasPixels) = (end, true)
            case 0x21:
                guard let end = endOfBlocks(file, place + extensionHeadBytes),
                    let isKept = isKept(file, place)
                else { return nil }
                if isKept { made.keep(place..<end) }
                place = end
            default: return nil
            }
        }
        return nil
    }

    /// Of a table of colors, by the byte that says how large it is.
    private static func colorBytes(_ packed: UInt8) -> Int {
        packed & 0x80 == 0 ? 0 : 3 << (Int(packed & 7) + 1)
    }

    private static func endOfImage(_ file: UnsafeRawBufferPointer, _ start: Int) -> Int? {
        guard start + imageHeadBytes <= file.count else { return nil }
        // Behind the table the least size of a code.
        return endOfBlocks(
            file, start + imageHeadBytes + colorBytes(file[start + imageHeadBytes - 1]) + 1)
    }

    /// Behind the empty block that ends those from there on.
    private static func endOfBlocks(_ file: UnsafeRawBufferPointer, _ start: Int) -> Int? {
        var place = start
        while place < file.count {
            guard file[place] > 0 else { return place + 1 }
            place += 1 + Int(file[place])
        }
        return nil
    }

    /// Whether the extension is needed; `nil` of one that draws, or that nobody knows.
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
