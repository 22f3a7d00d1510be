import Deflate
import ImageModel

/// Profile and metadata as chunks of a PNG (PNG 1.2 and its third edition, 11.3). It has no chunk
/// for IPTC.
enum PNGEnclosures {
    /// Behind the signature and IHDR, before all others.
    static let place = 33

    static func of(_ parts: EnclosedParts) throws -> [UInt8] {
        var chunks: [UInt8] = []
        if !parts.profile.isEmpty {
            let name = Array("ICC profile\0".utf8)
            chunks += chunk("iCCP", try name + [0] + compressed(parts.profile))
        }
        if !parts.exif.isEmpty { chunks += chunk("eXIf", parts.exif) }
        if !parts.xmp.isEmpty {
            chunks += chunk("iTXt", Array("XML:com.adobe.xmp\0".utf8) + [0, 0, 0, 0] + parts.xmp)
        }
        return chunks
    }

    /// Red, green and blue in full range, by the numbers of ITU-T H.273 (third edition, 11.3.2.6).
    static func of(_ hdr: HDRColours) -> [UInt8] {
        chunk("cICP", [hdr.primaries.rawValue, hdr.transfer.rawValue, 0, 1])
    }

    private static func compressed(_ bytes: [UInt8]) throws -> [UInt8] {
        let compressor = try ZlibCompressor(level: 6)
        return try [UInt8](unsafeUninitializedCapacity: compressor.bound(bytes.count)) {
            target, count in
            let made = bytes.withUnsafeBytes {
                compressor.compress($0, into: UnsafeMutableRawBufferPointer(target))
            }
            guard let made else {
                throw ImageError(.internalError, "libdeflate has no room in its own bound")
            }
            count = made
        }
    }

    private static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
        let signed = Array(type.utf8) + data
        let sum = signed.withUnsafeBytes { CRC32.of($0) }
        return PNGWriter.bigEndian(data.count) + signed + PNGWriter.bigEndian(Int(sum))
    }
}
