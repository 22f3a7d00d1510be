/// Parses and formats HTTP dates in all three forms (RFC 9110 §5.6.7), ignoring case
/// (RFC 9111 §4.2).
public enum HTTPDate {
    /// Returns seconds since 1970; `nil` for an invalid date, including one whose zone is not GMT.
    ///
    /// The two-digit year of the RFC 850 form is taken as the latest one at most 50 years after
    /// `now`, in seconds since 1970.
    public static func seconds(_ text: String, now: Int64) -> Int64? {
        guard text.utf8.count <= bytesMax else { return nil }
        let words = words(of: text)
        switch words.count {
        case 6: return fixdate(words)
        case 4: return rfc850(words, now)
        case 5: return asctime(words)
        default: return nil
        }
    }

    private typealias Word = ArraySlice<UInt8>

    /// The maximum length of a date.
    private static let bytesMax = 64

    private static func words(of text: String) -> [Word] {
        Array(text.utf8).split(separator: UInt8(ascii: " ")).map { word in
            ArraySlice(word.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 })
        }
    }

    /// `Sun, 06 Nov 1994 08:49:37 GMT`
    private static func fixdate(_ words: [Word]) -> Int64? {
        guard isDay(words[0], in: shortDays, before: ","), isZone(words[5]), words[3].count == 4,
            words[1].count == 2, let day = number(words[1]), let month = month(words[2]),
            let year = number(words[3]), let time = time(words[4])
        else { return nil }
        return seconds(year, month, day, time)
    }

    /// `Sunday, 06-Nov-94 08:49:37 GMT`
    private static func rfc850(_ words: [Word], _ now: Int64) -> Int64? {
        let parts = words[1].split(separator: UInt8(ascii: "-"))
        guard isDay(words[0], in: longDays, before: ","), isZone(words[3]), parts.count == 3,
            parts[0].count == 2, parts[2].count == 2, let day = number(parts[0]),
            let month = month(parts[1]), let short = number(parts[2]), let time = time(words[2])
        else { return nil }
        let latest = Int64(civil(Int((Double(now) / 86_400).rounded(.down))).year) + 50
        let year = latest - (latest - short) % 100
        return seconds(year, month, day, time)
    }

    /// `Sun Nov  6 08:49:37 1994`
    private static func asctime(_ words: [Word]) -> Int64? {
        guard isDay(words[0], in: shortDays, before: ""), let month = month(words[1]),
            (1...2).contains(words[2].count), let day = number(words[2]),
            let time = time(words[3]), words[4].count == 4, let year = number(words[4])
        else { return nil }
        return seconds(year, month, day, time)
    }

    // MARK: - Words

    private static let shortDays = weekdays.map { $0.lowercased() }
    private static let longDays = [
        "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
    ]
    private static let months = monthNames.map { $0.lowercased() }

    private static func isDay(_ word: Word, in names: [String], before end: String) -> Bool {
        names.contains { word.elementsEqual(($0 + end).utf8) }
    }

    private static func isZone(_ word: Word) -> Bool { word.elementsEqual("gmt".utf8) }

    private static func month(_ word: Word) -> Int64? {
        months.firstIndex { word.elementsEqual($0.utf8) }.map { Int64($0) + 1 }
    }

    private static func number(_ word: Word) -> Int64? {
        guard !word.isEmpty, word.allSatisfy(\.isDigit) else { return nil }
        return word.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
    }

    /// Returns the seconds since midnight; a leap second counts as the second before it.
    private static func time(_ word: Word) -> Int64? {
        let parts = word.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard parts.count == 3, parts.allSatisfy({ $0.count == 2 }),
            let hour = number(parts[0]), let minute = number(parts[1]),
            let second = number(parts[2]), hour < 24, minute < 60, second <= 60
        else { return nil }
        return (hour * 60 + minute) * 60 + min(second, 59)
    }

    // MARK: - The calendar

    /// Returns `nil` if the day does not exist in its month.
    private static func seconds(
        _ year: Int64, _ month: Int64, _ day: Int64, _ time: Int64
    ) -> Int64? {
        let first = days(year, month, 1)
        let next = month == 12 ? days(year + 1, 1, 1) : days(year, month + 1, 1)
        guard day >= 1, day <= next - first else { return nil }
        return (first + day - 1) * 86_400 + time
    }

    /// Returns the days from 1970-01-01 to a date of the Gregorian calendar.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        // A year that begins in March ends with the leap day.
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
            - 719_468
    }
}

// The only form of HTTP dates that may be generated (RFC 9110 §5.6.7).
extension HTTPDate {
    /// Formats seconds since 1970 as `Sun, 06 Nov 1994 08:49:37 GMT`.
    public static func text(of seconds: Int64) -> String {
        let day = Int((Double(seconds) / 86_400).rounded(.down))
        let second = Int(seconds) - day * 86_400
        let (year, month, date) = civil(day)
        let clock = [second / 3_600, second / 60 % 60, second % 60].map(two).joined(separator: ":")
        return "\(weekdays[(day % 7 + 11) % 7]), \(two(date)) \(monthNames[month - 1]) "
            + "\(four(year)) \(clock) GMT"
    }

    /// Converts days since 1970 to the Gregorian calendar, in eras of 400 years that begin in
    /// March.
    package static func civil(_ day: Int) -> (year: Int, month: Int, day: Int) {
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
