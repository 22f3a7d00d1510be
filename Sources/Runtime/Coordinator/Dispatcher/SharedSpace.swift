/// Accounts for the bytes of a limited space by owner.
///
/// An owner may not take more if it would then hold more than three times the space left, so that
/// others find some even beside a heavy user (as in `FairShare`).
struct SharedSpace<Owner: Hashable> {
    private let heldPerFree: UInt64 = 3
    private let max: UInt64
    private(set) var count: UInt64 = 0
    private var held: [Owner: UInt64] = [:]

    init(max: UInt64) { self.max = max }

    /// The bytes held by an owner.
    func count(of owner: Owner) -> UInt64 { held[owner, default: 0] }

    /// The maximum for a single owner without competition.
    var mostOfOne: UInt64 { max / (heldPerFree + 1) * heldPerFree }

    /// Whether an owner may take this many more bytes.
    func admits(_ bytes: UInt64, for owner: Owner) -> Bool {
        guard count <= max, bytes <= max - count else { return false }
        return (count(of: owner) + bytes) / heldPerFree <= max - count - bytes
    }

    mutating func take(_ bytes: UInt64, for owner: Owner) {
        count += bytes
        held[owner, default: 0] += bytes
    }

    mutating func giveBack(_ bytes: UInt64, of owner: Owner) {
        count -= bytes
        let left = count(of: owner) - bytes
        held[owner] = left > 0 ? left : nil
    }
}
