/// A moment of the wall clock as text (RFC 3339, UTC, milliseconds).
struct Timestamp {
    let nanoseconds: Int64

    /// Appends for example `2026-03-01T12:34:56.789Z`.
    func append(to line: inout [UInt8]) {
        let milliseconds = Self.floor(nanoseconds, 1_000_000)
        let seconds = Self.floor(milliseconds, 1_000)
        let days = Self.floor(seconds, 86_400)
        let date = Self.date(days: days)
        let time = seconds - days * 86_400
        Self.digits(date.year, 4, to: &line)
        line.append(UInt8(ascii: "-"))
        Self.digits(date.month, 2, to: &line)
        line.append(UInt8(ascii: "-"))
        Self.digits(date.day, 2, to: &line)
        line.append(UInt8(ascii: "T"))
        Self.digits(time / 3_600, 2, to: &line)
        line.append(UInt8(ascii: ":"))
        Self.digits(time / 60 % 60, 2, to: &line)
        line.append(UInt8(ascii: ":"))
        Self.digits(time % 60, 2, to: &line)
        line.append(UInt8(ascii: "."))
        Self.digits(milliseconds - seconds * 1_000, 3, to: &line)
        line.append(UInt8(ascii: "Z"))
    }

    /// The Gregorian date so many days after 1970-01-01.
    ///
    /// Counts years from March on, so that the leap day is the last of its year, and eras of 400
    /// years, which are 146,097 days (Howard Hinnant, "chrono-compatible low-level date
    /// algorithms").
    static func date(days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = floor(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        let day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    private static func floor(_ value: Int64, _ unit: Int64) -> Int64 {
        value >= 0 ? value / unit : -((-value + unit - 1) / unit)
    }

    private static func digits(_ value: Int64, _ width: Int, to line: inout [UInt8]) {
        var divisor: Int64 = 1
        for _ in 1..<width { divisor *= 10 }
        while divisor > 0 {
            line.append(UInt8(ascii: "0") + UInt8(value / divisor % 10))
            divisor /= 10
        }
    }
}
