import ImageModel
import Messages

/// The bytes of one image that come in pieces (PROTOCOL §10.1).
///
/// Its memory grows by what arrives, never by the word of `total`: at most twice what has come.
struct PieceAssembly {
    /// What has come since offset 0.
    private(set) var bytes: [UInt8] = []
    private var total: UInt64 = 0

    /// Adds what comes next; offset 0 begins anew.
    ///
    /// Throws `limitExceeded` where more than `bytesMax` are announced, and `protocolViolation`
    /// where bytes are missing, come twice, or do not lie within what was announced.
    mutating func take(_ piece: Piece, bytesMax: Int) throws(ImageError) {
        if piece.offset == 0 {
            guard piece.total <= UInt64(bytesMax) else {
                throw ImageError(
                    .limitExceeded,
                    "an image of \(piece.total) bytes is larger than this client takes",
                    details: ["limit": "\(bytesMax)"])
            }
            bytes.removeAll(keepingCapacity: true)
            total = piece.total
        }
        guard piece.offset == UInt64(bytes.count), piece.total == total,
            UInt64(piece.bytes.count) <= total - piece.offset
        else {
            throw ImageError(
                .protocolViolation,
                "a piece at \(piece.offset) of \(piece.total) does not follow "
                    + "\(bytes.count) of \(total) bytes")
        }
        grow(by: piece.bytes.count)
        bytes.append(contentsOf: piece.bytes)
    }

    /// All bytes, once the reply says how many they are. Throws `protocolViolation` where others
    /// have come.
    func finished(count: UInt64) throws(ImageError) -> [UInt8] {
        guard UInt64(bytes.count) == count else {
            throw ImageError(
                .protocolViolation, "\(bytes.count) bytes came in pieces, the reply says \(count)")
        }
        return bytes
    }

    /// Doubles the memory, but not beyond what was announced.
    private mutating func grow(by count: Int) {
        let needed = bytes.count + count
        guard bytes.capacity < needed else { return }
        bytes.reserveCapacity(max(needed, min(Int(clamping: total), 2 * bytes.count)))
    }
}
