internal import ImageModel

/// The samples of an image as a number of a byte: their bits, 0 for the usual 8, and the highest
/// bit for a high dynamic range.
struct StoredSamples {
    let bits: Int
    let isHDR: Bool

    private static let highRange = 0x80

    init(_ info: ImageInfo) { (bits, isHDR) = (info.bits, info.isHDR) }

    /// `nil` for what is none.
    init?(_ number: Int64) {
        guard (0...0xFF).contains(number) else { return nil }
        let bits = Int(number) & ~Self.highRange
        guard bits == 0 || ImageInfo.bitsRange.contains(bits) else { return nil }
        self.bits = bits == 0 ? 8 : bits
        isHDR = Int(number) & Self.highRange != 0
    }

    /// What a column of both says: the samples in its lowest byte, above them the revision of the
    /// pipeline. `nil` for what this program never writes.
    static func parts(of column: Int64) -> (samples: Int64, revision: UInt16)? {
        guard column >= 0, let revision = UInt16(exactly: column >> 8),
            PipelineRevision.range.contains(revision)
        else { return nil }
        return (column & 0xFF, revision)
    }

    /// The column of both.
    func column(_ revision: UInt16) -> Int64 { Int64(number) | Int64(revision) << 8 }

    var number: UInt8 {
        UInt8((bits == 8 ? 0 : bits) | (isHDR ? Self.highRange : 0))
    }
}
