/// Limits that a profile and the rules of a configuration set; none by default.
public struct LimitSettings: Hashable, Sendable {
    private var values: [LimitSetting: Int] = [:]

    /// Sets nothing.
    public init() {}

    /// What it is set to; `nil` where it is not.
    public subscript(setting: LimitSetting) -> Int? {
        get { values[setting] }
        set { values[setting] = newValue }
    }

    /// Takes over all that others set.
    public mutating func merge(_ others: LimitSettings) {
        values.merge(others.values) { $1 }
    }

    /// `limit`, or what is set where that is less: nobody makes a limit wider than the process has.
    public func narrowed(_ limit: Int, by setting: LimitSetting) -> Int {
        min(limit, values[setting] ?? limit)
    }

    /// The same without that of bodies: what decides about pixels.
    public var ofPixels: LimitSettings {
        var others = self
        others[.body] = nil
        return others
    }
}
