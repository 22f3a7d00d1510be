// The one form of dates in HTTP that is written (RFC 9110 §5.6.7).
extension HTTPDate {
    /// `Sun, 06 Nov 1994 08:49:37 GMT` of seconds since 1970.
    public static func text(of seconds: Int64) -> String {
        let day = Int((Double(seconds) / 86_400).rounded(.down))
        let second = Int(seconds) - day * 86_400
        let (year, month, date) = civil(day)
        let clock = [second / 3_600, second / 60 % 60, second % 60].map(two).joined(separator: ":")
        return "\(weekdays[(day % 7 + 11) % 7]), \(two(date)) \(monthNames[month - 1]) "
            + "\(four(year)) \(clock) GMT"
    }

    /// A day since 1970 in the Gregorian calendar: eras of 400 years that begin in March.
    private static func civil(_ day: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = day + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let leaps = dayOfEra / 1_460 - dayOfEra / 36_524 + dayOfEra / 146_096
        let yearOfEra = (dayOfEra - leaps) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let fromMarch = (5 * dayOfYear + 2) / 153
        let month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * fromMarch + 2) / 5 + 1)
    }

    private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

    private static func four(_ year: Int) -> String {
        String(repeating: "0", count: max(0, 4 - "\(year)".count)) + "\(year)"
    }

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let monthNames = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
