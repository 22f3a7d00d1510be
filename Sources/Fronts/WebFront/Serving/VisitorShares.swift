/// How much of something scarce each visitor holds, and whether one may take more of it. A value
/// without a clock.
///
/// A visitor may hold up to three times what is left, as with the transfers of a stack, and never
/// more than three quarters of all: another one finds something at once. Who holds nothing is
/// admitted as long as there is enough for it.
package struct VisitorShares: Hashable, Sendable {
    /// So much is there for all.
    package let most: Int
    /// So much of it is held.
    package private(set) var total = 0
    private var held: [UInt64: Int] = [:]

    private static let heldPerFree = 3

    package init(most: Int) { self.most = most }

    /// Whether a visitor may take more.
    package enum Verdict: Hashable, Sendable {
        case admitted
        /// The visitor holds its share.
        case visitorIsFull
        /// All together hold what there is.
        case allAreFull
    }

    /// Whether a visitor may take an amount. It counts for all only as far as it is `new`: what two
    /// visitors share is there once. An amount that is larger than all is admitted alone.
    package func verdict(on amount: Int, new: Int, for visitor: UInt64) -> Verdict {
        let left = most - total - new
        guard total == 0 || left >= 0 else { return .allAreFull }
        let own = held[visitor, default: 0]
        let ownMax = min(Self.heldPerFree * left, most - most / (Self.heldPerFree + 1))
        return own == 0 || own + amount <= ownMax ? .admitted : .visitorIsFull
    }

    package mutating func take(_ amount: Int, new: Int, by visitor: UInt64) {
        total += new
        held[visitor, default: 0] += amount
    }

    /// Gives back what was taken; `old` is no longer held by anybody.
    package mutating func giveBack(_ amount: Int, old: Int, of visitor: UInt64) {
        total -= old
        let left = held[visitor, default: 0] - amount
        held[visitor] = left > 0 ? left : nil
    }
}
