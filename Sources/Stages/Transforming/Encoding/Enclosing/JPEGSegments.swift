/// Profile and metadata as segments of a JPEG (ITU-T T.81, B.2.4.6).
enum JPEGSegments {
    /// Bytes that one segment holds.
    private static let bytesMax = 65_533

    /// Bytes of EXIF that its segment holds.
    static let exifBytesMax = bytesMax - exifHead.count
    private static let exifHead = Array("Exif\0\0".utf8)

    /// Behind the start of the image and the segment of JFIF, where there is one.
    static func place(in file: UnsafeRawBufferPointer) -> Int {
        let start = 2
        guard file.count > start + 4, file[start] == 0xFF, file[start + 1] == 0xE0 else {
            return start
        }
        return start + 2 + (Int(file[start + 2]) << 8 | Int(file[start + 3]))
    }

    static func of(_ parts: EnclosedParts) -> [UInt8] {
        exif(parts.exif) + xmp(parts.xmp) + iptc(parts.iptc) + profile(parts.profile)
    }

    /// The file without segments of applications and comments at its beginning.
    static func bare(_ file: [UInt8]) -> [UInt8] {
        var place = 2
        while place + 4 <= file.count, file[place] == 0xFF,
            (0xE0...0xEF).contains(file[place + 1]) || file[place + 1] == 0xFE
        {
            place += 2 + (Int(file[place + 2]) << 8 | Int(file[place + 3]))
        }
        return Array(file.prefix(2) + file.dropFirst(place))
    }

    /// EXIF 2.32, 4.7.2.
    private static func exif(_ block: [UInt8]) -> [UInt8] {
        block.isEmpty ? [] : segment(1, exifHead + block)
    }

    /// XMP specification part 3, 1.1.3.
    private static func xmp(_ packet: [UInt8]) -> [UInt8] {
        packet.isEmpty ? [] : segment(1, Array("http://ns.adobe.com/xap/1.0/\0".utf8) + packet)
    }

    /// As a resource of Photoshop, XMP specification part 3, 1.1.3.
    private static func iptc(_ records: [UInt8]) -> [UInt8] {
        guard !records.isEmpty else { return [] }
        let count = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: records.count >> $0) }
        return segment(
            13,
            Array("Photoshop 3.0\0".utf8) + Array("8BIM".utf8) + [4, 4, 0, 0] + count + records
                + [UInt8](repeating: 0, count: records.count % 2))
    }

    /// In as many segments as it takes (ICC.1:2022, B.4).
    private static func profile(_ profile: [UInt8]) -> [UInt8] {
        let head = Array("ICC_PROFILE\0".utf8)
        let step = bytesMax - head.count - 2
        let starts = Array(stride(from: 0, to: profile.count, by: step))
        return starts.enumerated().flatMap { index, start in
            let part = profile[start..<min(profile.count, start + step)]
            return segment(2, head + [UInt8(index + 1), UInt8(starts.count)] + part)
        }
    }

    private static func segment(_ application: UInt8, _ data: [UInt8]) -> [UInt8] {
        precondition(data.count <= bytesMax, "enclosures fit a segment")
        let length = data.count + 2
        return [0xFF, 0xE0 + application, UInt8(length >> 8), UInt8(length & 255)] + data
    }
}
