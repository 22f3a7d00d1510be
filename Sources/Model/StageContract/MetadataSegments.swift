/// Encodes metadata as JPEG segments (ITU-T T.81, B.2.4.6).
package enum MetadataSegments {
    /// The maximum number of bytes in a segment.
    package static let bytesMax = 65_533
    /// The maximum number of EXIF bytes in a segment.
    package static let exifBytesMax = bytesMax - exifHead.count
    private static let exifHead = Array("Exif\0\0".utf8)

    /// Returns the segments of these blocks, each at most 65,500 bytes; empty blocks are omitted.
    package static func of(exif: [UInt8], xmp: [UInt8], iptc: [UInt8]) -> [UInt8] {
        self.exif(exif) + self.xmp(xmp) + self.iptc(iptc)
    }

    /// Encodes EXIF (EXIF 2.32, 4.7.2).
    private static func exif(_ block: [UInt8]) -> [UInt8] {
        block.isEmpty ? [] : segment(1, exifHead + block)
    }

    /// Encodes XMP (XMP specification part 3, 1.1.3).
    private static func xmp(_ packet: [UInt8]) -> [UInt8] {
        packet.isEmpty ? [] : segment(1, Array("http://ns.adobe.com/xap/1.0/\0".utf8) + packet)
    }

    /// Encodes IPTC as a Photoshop resource (XMP specification part 3, 1.1.3).
    private static func iptc(_ records: [UInt8]) -> [UInt8] {
        guard !records.isEmpty else { return [] }
        let count = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: records.count >> $0) }
        return segment(
            13,
            Array("Photoshop 3.0\0".utf8) + Array("8BIM".utf8) + [4, 4, 0, 0] + count + records
                + [UInt8](repeating: 0, count: records.count % 2))
    }

    /// Returns an APPn segment.
    package static func segment(_ application: UInt8, _ data: [UInt8]) -> [UInt8] {
        precondition(data.count <= bytesMax, "embedded metadata must fit in a segment")
        let length = data.count + 2
        return [0xFF, 0xE0 + application, UInt8(length >> 8), UInt8(length & 255)] + data
    }
}
