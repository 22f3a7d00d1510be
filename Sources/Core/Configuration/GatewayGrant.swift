public import Messages

/// What the settings of a gateway of the stack let all front ends for strangers ask for
/// (SEMANTICS §14.11): the operator who sets them need not say it twice.
public struct GatewayGrant: Hashable, Sendable {
    /// With tokens of operators: loads may have the origin asked about what is fresh.
    public var refreshes: Bool
    /// With a listener for removals: entries may be removed.
    public var removes: Bool
    /// Names of header fields, in lower case, that loads may bring for the origin.
    public var headers: [String]

    /// As said, names with commas between; nothing unless told otherwise.
    public init(refreshes: Bool = false, removes: Bool = false, headers: String = "") {
        (self.refreshes, self.removes) = (refreshes, removes)
        self.headers = headers.split { $0 == "," || $0 == " " }.map { $0.lowercased() }
    }

    /// What one gateway needs.
    public init(of settings: [GatewaySetting: String]) {
        let refreshes = settings[.operatorTokens] != nil
        self.init(
            refreshes: refreshes, removes: refreshes && settings[.operatorListen] != nil,
            headers: settings[.passHeaders] ?? "")
    }
}
