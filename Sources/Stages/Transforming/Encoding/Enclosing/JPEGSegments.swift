import StageContract

/// Profile and metadata as segments of a JPEG (ITU-T T.81, B.2.4.6).
enum JPEGSegments {
    private static let bytesMax = MetadataSegments.bytesMax

    /// Bytes of EXIF that its segment holds.
    static let exifBytesMax = MetadataSegments.exifBytesMax

    /// Behind the start of the image and the segment of JFIF, where there is one.
    static func place(in file: UnsafeRawBufferPointer) -> Int {
        let start = 2
        guard file.count > start + 4, file[start] == 0xFF, file[start + 1] == 0xE0 else {
            return start
        }
        return start + 2 + (Int(file[start + 2]) << 8 | Int(file[start + 3]))
    }

    static func of(_ parts: EnclosedParts) -> [UInt8] {
        MetadataSegments.of(exif: parts.exif, xmp: parts.xmp, iptc: parts.iptc)
            + profile(parts.profile)
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

    /// In as many segments as it takes (ICC.1:2022, B.4).
    private static func profile(_ profile: [UInt8]) -> [UInt8] {
        let head = Array("ICC_PROFILE\0".utf8)
        let step = bytesMax - head.count - 2
        let starts = Array(stride(from: 0, to: profile.count, by: step))
        return starts.enumerated().flatMap { index, start in
            let part = profile[start..<min(profile.count, start + step)]
            let counts = [UInt8(index + 1), UInt8(starts.count)]
            return MetadataSegments.segment(2, head + counts + part)
        }
    }
}
