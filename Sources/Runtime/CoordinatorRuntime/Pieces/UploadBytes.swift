import Admission
import Messages

/// Bytes of space that clients take with what they bring along, and who takes how many.
///
/// Nobody takes more where he would hold more than three times what is left then: others find room
/// beside whoever holds much.
struct UploadBytes {
    private static let heldPerFree: UInt64 = 3

    private let max: UInt64
    private(set) var count: UInt64 = 0
    private var held: [ClientID: UInt64] = [:]

    init(max: UInt64) { self.max = max }

    /// What a client that is alone may hold.
    var mostOfOne: UInt64 { max / (Self.heldPerFree + 1) * Self.heldPerFree }

    /// Whether a client may take so many more.
    func admits(_ bytes: UInt64, for client: ClientID) -> Bool {
        guard count <= max, bytes <= max - count else { return false }
        return (held[client, default: 0] + bytes) / Self.heldPerFree <= max - count - bytes
    }

    mutating func take(_ bytes: UInt64, for client: ClientID) {
        count += bytes
        held[client, default: 0] += bytes
    }

    mutating func giveBack(_ bytes: UInt64, of client: ClientID) {
        count -= bytes
        let left = held[client, default: 0] - bytes
        held[client] = left > 0 ? left : nil
    }
}
