/// A value for each setting that is said. In one piece, since requests are copied and compared.
struct SettingValues: Hashable, Sendable {
    private var values = SIMD32<Int16>(repeating: SettingValues.unsaid)
    private var wide = SIMD2<Int32>(repeating: SettingValues.wideUnsaid)

    private static let unsaid = Int16.min
    private static let wideUnsaid = Int32.min

    var isEmpty: Bool {
        self == SettingValues()
    }

    subscript(setting: OutputSetting) -> Int? {
        get {
            if let place = setting.widePlace {
                return wide[place] == Self.wideUnsaid ? nil : Int(wide[place])
            }
            let value = values[setting.rawValue]
            return value == Self.unsaid ? nil : Int(value)
        }
        set {
            if let place = setting.widePlace {
                wide[place] = newValue.map { max(-1, Int32(clamping: $0)) } ?? Self.wideUnsaid
            } else {
                values[setting.rawValue] =
                    newValue.map { max(-1, Int16(clamping: $0)) } ?? Self.unsaid
            }
        }
    }

    /// By words: element by element costs more than all else that is compared of a request.
    static func == (one: SettingValues, other: SettingValues) -> Bool {
        one.words == other.words && one.wide == other.wide
    }

    private var words: SIMD8<UInt64> { unsafeBitCast(values, to: SIMD8<UInt64>.self) }

    func hash(into hasher: inout Hasher) {
        // Most requests say none.
        guard !isEmpty else { return }
        hasher.combine(values)
        hasher.combine(wide)
    }
}
