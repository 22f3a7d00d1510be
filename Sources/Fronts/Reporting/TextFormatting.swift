package import JSON
import Model
import ProcessRuntime

/// Formats human-readable tables and numbers.
package enum TextTable {
    package typealias Cell = any CustomStringConvertible

    /// Formats a table: first column left-aligned, others right-aligned.
    package static func text(_ header: [String], _ rows: [[Cell]]) -> String {
        let lines = ([header] + rows).map { $0.map { PlainText.line($0.description) } }
        let widths = header.indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
        return lines.map { cells in
            let padded = cells.indices.map { column in
                let blanks = String(repeating: " ", count: widths[column] - cells[column].count)
                return column == 0 ? cells[column] + blanks : blanks + cells[column]
            }
            return padded.joined(separator: "  ") + "\n"
        }.joined()
    }

    /// Formats a number with one decimal.
    package static func tenths(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}

/// Formats byte counts in human-readable form.
package enum ByteText {
    /// Returns, for instance, `812 bytes`, `36.1 KB` or `1.2 MB`; 1 KB is 1024 bytes.
    package static func text(_ count: UInt64) -> String {
        guard count >= 1024 else { return "\(count) bytes" }
        var value = Double(count)
        var unit = ""
        for next in ["KB", "MB", "GB", "TB"] where value >= 1024 {
            value /= 1024
            unit = next
        }
        return "\(TextTable.tenths(value)) \(unit)"
    }
}

/// Formats dates in human-readable form.
enum CalendarText {
    /// Formats milliseconds since 1970 as `2026-03-01T12:00:00Z`.
    static func text(_ milliseconds: UInt64) -> String {
        let seconds = milliseconds / 1_000
        let date = HTTPDate.civil(Int(seconds / 86_400))
        let day = "\(date.year)-\(two(UInt64(date.month)))-\(two(UInt64(date.day)))"
        let (hour, minute, second) = (seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60)
        return "\(day)T\(two(hour)):\(two(minute)):\(two(second))Z"
    }

    private static func two(_ number: UInt64) -> String { number < 10 ? "0\(number)" : "\(number)" }
}

/// JSON on a single line, with sorted keys and a trailing line feed.
package enum JSONText {
    package static func text(_ value: some Encodable) throws(JSONError) -> String {
        // The JSON writer doesn't escape C1 control characters and bidirectional overrides.
        PlainText.line(try JSONWriter.text(value)) + "\n"
    }
}

/// A JSON object. All of its members are in the output; those without a value are null.
package struct JSONObject: Encodable, Sendable, ExpressibleByDictionaryLiteral {
    package typealias Member = any Encodable & Sendable
    /// The members, in the order in which they were set.
    package private(set) var members: [(name: String, value: Member?)]

    package init(dictionaryLiteral elements: (String, Member?)...) {
        members = elements.map { ($0.0, $0.1) }
    }

    /// A member; assigning `nil` removes it.
    package subscript(name: String) -> Member? {
        get { members.first { $0.name == name }?.value }
        set {
            let place = members.firstIndex { $0.name == name }
            if let place { members.remove(at: place) }
            if let newValue { members.insert((name, newValue), at: place ?? members.count) }
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Name.self)
        for (name, value) in members {
            if let value {
                try object.encode(value, forKey: Name(stringValue: name))
            } else {
                try object.encodeNil(forKey: Name(stringValue: name))
            }
        }
    }

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}
