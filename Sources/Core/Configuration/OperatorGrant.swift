public import Messages

/// What follows for all front ends for strangers from the tokens of operators that a gateway of the
/// stack knows (SEMANTICS §14.11).
public struct OperatorGrant: Hashable, Sendable {
    /// With tokens: loads may have the origin asked about what is fresh.
    public var refreshes: Bool
    /// With a listener for removals: entries may be removed.
    public var removes: Bool

    /// As said; nothing unless told otherwise.
    public init(refreshes: Bool = false, removes: Bool = false) {
        (self.refreshes, self.removes) = (refreshes, removes)
    }

    /// What one gateway needs.
    public init(of settings: [GatewaySetting: String]) {
        refreshes = settings[.operatorTokens] != nil
        removes = refreshes && settings[.operatorListen] != nil
    }
}
