/// Limits that a profile and the rules of a configuration set; none by default.
public struct LimitSettings: Hashable, Sendable {
    /// `nil` where nothing is set, as of most requests: keys have it and are copied and hashed.
    private var values: Values?

    private final class Values: Hashable, Sendable {
        let bySetting: [LimitSetting: Int]

        init(_ bySetting: [LimitSetting: Int]) { self.bySetting = bySetting }

        static func == (left: Values, right: Values) -> Bool {
            left === right || left.bySetting == right.bySetting
        }

        func hash(into hasher: inout Hasher) { hasher.combine(bySetting) }
    }

    /// Sets nothing.
    public init() {}

    private init(_ bySetting: [LimitSetting: Int]) {
        values = bySetting.isEmpty ? nil : Values(bySetting)
    }

    /// What it is set to; `nil` where it is not.
    public subscript(setting: LimitSetting) -> Int? {
        get { values?.bySetting[setting] }
        set {
            var others = values?.bySetting ?? [:]
            others[setting] = newValue
            self = LimitSettings(others)
        }
    }

    /// Takes over all that others set.
    public mutating func merge(_ others: LimitSettings) {
        guard let set = others.values else { return }
        self = LimitSettings((values?.bySetting ?? [:]).merging(set.bySetting) { $1 })
    }

    /// `limit`, or what is set where that is less: nobody makes a limit wider than the process has.
    public func narrowed(_ limit: Int, by setting: LimitSetting) -> Int {
        min(limit, self[setting] ?? limit)
    }

    /// The same without that of bodies: what decides about pixels.
    public var ofPixels: LimitSettings {
        guard values != nil else { return self }
        var others = self
        others[.body] = nil
        return others
    }
}
