public import Messages

extension FrameHeader {
    /// "IBUS".
    private static let name: InlineArray<4, UInt8> = [0x49, 0x42, 0x55, 0x53]

    /// Reads a first frame. Throws `notOurs`, `unsupportedVersion` or `unknownKind`, in that order;
    /// a refusal of versions is read whatever version sent it.
    public init(decoding frame: RawSpan) throws(WireError) {
        guard frame.byteCount == Self.byteCount else { throw .notOurs }
        let word = frame.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt64.self).littleEndian
        func byte(_ index: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: word >> (8 * index)) }
        guard UInt32(truncatingIfNeeded: word) == Self.word, byte(7) == 0 else { throw .notOurs }
        let (version, number) = (byte(4), byte(5))
        let isRefusal = number == MessageKind.versions.rawValue
        guard isRefusal || version == Self.currentVersion else {
            throw .unsupportedVersion(version)
        }
        guard let kind = MessageKind(rawValue: number) else { throw .unknownKind(number) }
        self.init(kind: kind, version: version, flags: byte(6))
    }

    /// The name as a little-endian word.
    private static let word = UInt32(0x5355_4249)

    /// The frame.
    public var encoded: InlineArray<8, UInt8> {
        [
            Self.name[0], Self.name[1], Self.name[2], Self.name[3], version, kind.rawValue, flags,
            0,
        ]
    }

    /// The frame as an array, where an allocation does not matter.
    public var bytes: [UInt8] { encoded.span.withUnsafeBytes { Array($0) } }
}

/// The answer to a version that this side does not speak: both frames are fixed for ever.
public enum VersionRefusal {
    /// First frame.
    public static let header: [UInt8] = FrameHeader(kind: .versions).bytes
    /// Second frame: lowest and highest version.
    public static let body: [UInt8] = [FrameHeader.currentVersion, FrameHeader.currentVersion]

    /// What the second frame of a refusal says: always an error.
    static func error(_ body: RawSpan) -> WireError {
        guard body.byteCount >= 2 else { return .malformed }
        return body.withUnsafeBytes { .versionRefused(lowest: $0[0], highest: $0[1]) }
    }
}
