package import ImageModel

/// Bytes of a source that go into results beside its pixels, and where they lie in the block of
/// these (PROTOCOL §7.1). Who reads them trusts them no more than the source.
public struct Enclosure: Hashable, Sendable {
    /// What they are; the number on the wire.
    public enum Kind: UInt8, Hashable, Sendable, CaseIterable {
        /// An ICC profile of red, green and blue, or of grey.
        case profile = 1
        /// EXIF, from the header of its TIFF on.
        case exif = 2
        /// An XMP packet.
        case xmp = 3
        /// Records of IPTC-IIM.
        case iptc = 4

        /// Bytes at most: 4 MiB of a profile, of others what one segment of a JPEG holds.
        public var bytesMax: Int { self == .profile ? 4 << 20 : 65_500 }
    }

    /// What they are.
    public var kind: Kind
    /// From the first byte of the block's reference.
    public var offset: Int
    /// At least 1.
    public var length: Int

    /// Names bytes.
    public init(kind: Kind, offset: Int, length: Int) {
        (self.kind, self.offset, self.length) = (kind, offset, length)
    }

    /// Where the bytes end; `nil` where the numbers make no sense.
    public var end: Int? {
        guard offset >= 0, (1...kind.bytesMax).contains(length) else { return nil }
        let (end, overflows) = offset.addingReportingOverflow(length)
        return overflows ? nil : end
    }

    /// Which wishes may bring it.
    package var wishes: KeptParts {
        kind == .profile ? [.profile, .greyProfile] : [.rights, .metadata]
    }
}
