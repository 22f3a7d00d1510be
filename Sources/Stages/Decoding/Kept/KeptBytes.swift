import ImageModel
import Messages
import Vips

/// What of a source goes into results beside its pixels, as results may have it.
struct KeptBytes {
    private(set) var parts: [(kind: Enclosure.Kind, bytes: [UInt8])] = []

    /// Nothing.
    init() {}

    /// What the source has of what is wished. What is too large, or cannot be read, is left out.
    init(of source: SourceImage, _ wishes: KeptParts) throws(ImageError) {
        guard !wishes.isEmpty else { return }
        let image = try source.openHeader()
        append(.profile, Self.profile(of: source, wishes))
        if wishes.contains(.metadata) {
            append(.exif, image.withEXIF { ExifBlock($0)?.upright() } ?? nil)
            append(.xmp, image.withXMP { XMPOrientation.upright($0) } ?? nil)
            append(.iptc, image.withIPTC { IPTCRecords($0)?.all } ?? nil)
        } else if wishes.contains(.rights) {
            append(.exif, image.withEXIF { ExifBlock($0)?.rights() } ?? nil)
            append(.xmp, image.withXMP { XMPRights.read($0) } ?? nil)
            append(.iptc, image.withIPTC { IPTCRecords($0)?.rights } ?? nil)
        }
    }

    /// Whether the pixels stay as they are.
    var hasProfile: Bool { parts.contains { $0.kind == .profile } }

    /// Of all parts.
    var byteCount: Int { parts.reduce(0) { $0 + $1.bytes.count } }

    /// Writes the parts one after the other and says where they are; `memory` has room for them
    /// from `offset` on.
    func write(to memory: UnsafeMutableRawBufferPointer, from offset: Int) -> [Enclosure] {
        var end = offset
        return parts.map { part in
            let enclosure = Enclosure(kind: part.kind, offset: end, length: part.bytes.count)
            UnsafeMutableRawBufferPointer(rebasing: memory[end...]).copyBytes(from: part.bytes)
            end += part.bytes.count
            return enclosure
        }
    }

    private mutating func append(_ kind: Enclosure.Kind, _ bytes: [UInt8]?) {
        guard let bytes, (1...kind.bytesMax).contains(bytes.count) else { return }
        parts.append((kind, bytes))
    }

    /// One that explains samples as the source has them.
    private static func profile(of source: SourceImage, _ wishes: KeptParts) -> [UInt8]? {
        // Numbers say what a profile would.
        guard source.samples(wishes).hdr == nil, let profile = source.profile else { return nil }
        let isKept =
            switch profile.space {
            case .rgb:
                wishes.contains(.profile) && [.rgb, .rgb16].contains(source.header.colour)
            case .grey: wishes.contains(.greyProfile)
            case .cmyk: false
            }
        return isKept ? profile.bytes : nil
    }
}
