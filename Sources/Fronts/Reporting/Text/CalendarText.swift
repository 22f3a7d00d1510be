/// Moments of the calendar for people.
enum CalendarText {
    /// `2026-03-01T12:00:00Z`, of milliseconds since 1970.
    static func text(_ milliseconds: UInt64) -> String {
        let seconds = milliseconds / 1_000
        let date = date(ofDay: seconds / 86_400)
        let (hour, minute, second) = (seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60)
        return "\(date)T\(two(hour)):\(two(minute)):\(two(second))Z"
    }

    /// Days since 1970 in the Gregorian calendar, by eras of 400 years that begin in March.
    private static func date(ofDay day: UInt64) -> String {
        let shifted = day + 719_468
        let (era, ofEra) = (shifted / 146_097, shifted % 146_097)
        let yearOfEra = (ofEra - ofEra / 1_460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * ofYear + 2) / 153
        let dayOfMonth = ofYear - (153 * month + 2) / 5 + 1
        let year = yearOfEra + era * 400 + (month >= 10 ? 1 : 0)
        return "\(year)-\(two(month < 10 ? month + 3 : month - 9))-\(two(dayOfMonth))"
    }

    private static func two(_ number: UInt64) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
