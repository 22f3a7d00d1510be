internal import ImageModel

/// Durations as people write them: a whole number with a unit, such as `90s`, `15m`, `12h`, `7d` or
/// `4w`; a number alone is seconds.
public enum DurationText {
    private static let units: [(unit: Character, seconds: Int64)] = [
        ("s", 1), ("m", 60), ("h", 3_600), ("d", 86_400), ("w", 7 * 86_400),
    ]

    /// The seconds of a text, at most those of a thousand years; `nil` for anything else.
    public static func seconds(of text: String) -> Int64? {
        let unit = units.first { text.last == $0.unit }
        guard let number = PlainNumber.integer(unit == nil ? text[...] : text.dropLast()),
            number >= 0
        else { return nil }
        let (seconds, overflow) = Int64(number).multipliedReportingOverflow(by: unit?.seconds ?? 1)
        return !overflow && seconds <= secondsMax ? seconds : nil
    }

    /// A thousand years.
    public static let secondsMax: Int64 = 1_000 * 366 * 86_400

    /// What such a text is, for errors.
    public static let expected = "a time such as 90s, 15m, 12h, 7d or 4w"
}
