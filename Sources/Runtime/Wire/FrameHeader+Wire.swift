public import Messages

extension FrameHeader {
    private static let name: [UInt8] = Array("IBUS".utf8)

    /// Reads a first frame. Throws `notOurs`, `unsupportedVersion` or `unknownKind`, in that order;
    /// a refusal of versions is read whatever version sent it.
    public init(decoding frame: RawSpan) throws(WireError) {
        let bytes = frame.withUnsafeBytes { Array($0.prefix(Self.byteCount + 1)) }
        guard bytes.count == Self.byteCount, bytes.starts(with: Self.name), bytes[7] == 0 else {
            throw .notOurs
        }
        let isRefusal = bytes[5] == MessageKind.versions.rawValue
        guard isRefusal || bytes[4] == Self.currentVersion else {
            throw .unsupportedVersion(bytes[4])
        }
        guard let kind = MessageKind(rawValue: bytes[5]) else { throw .unknownKind(bytes[5]) }
        self.init(kind: kind, version: bytes[4], flags: bytes[6])
    }

    /// The frame.
    public var encoded: InlineArray<8, UInt8> {
        [
            Self.name[0], Self.name[1], Self.name[2], Self.name[3], version, kind.rawValue, flags,
            0,
        ]
    }

    /// The frame as an array, where an allocation does not matter.
    public var bytes: [UInt8] { Self.name + [version, kind.rawValue, flags, 0] }
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
