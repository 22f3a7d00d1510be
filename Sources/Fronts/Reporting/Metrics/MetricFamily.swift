package import Messages

/// One metric with all its samples, in the text exposition format of Prometheus, version 0.0.4.
package struct MetricFamily: Hashable {
    /// What its samples are.
    package enum Kind: String {
        case counter
        case gauge
        case histogram
        case untyped
    }

    /// Names and values, in order.
    package typealias Labels = [(name: String, value: String)]

    package let name: String
    let kind: Kind
    let help: String
    /// Complete lines.
    private(set) var lines: [String] = []

    package init(_ name: String, _ kind: Kind, _ help: String) {
        self.name = name
        self.kind = kind
        self.help = help
    }

    /// Its part of the exposition; nothing where it has no samples.
    package var text: String {
        guard !lines.isEmpty else { return "" }
        let head = "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
        return head + lines.map { $0 + "\n" }.joined()
    }

    package mutating func add(_ value: UInt64, _ labels: Labels = []) {
        lines.append("\(name)\(Self.text(labels)) \(value)")
    }

    package mutating func add(_ value: Double, _ labels: Labels = []) {
        lines.append("\(name)\(Self.text(labels)) \(value)")
    }

    /// Buckets are cumulative, and the last one counts all.
    package mutating func add(_ histogram: LatencyHistogram, _ labels: Labels = []) {
        for octave in Self.octaves {
            let bound = "\(Double(1 << octave) / 1e6)"
            let count = histogram.count(upTo: octave * LatencyHistogram.bucketsPerOctave)
            lines.append("\(name)_bucket\(Self.text(labels + [("le", bound)])) \(count)")
        }
        let count = histogram.count
        lines.append("\(name)_bucket\(Self.text(labels + [("le", "+Inf")])) \(count)")
        lines.append("\(name)_sum\(Self.text(labels)) \(Double(histogram.sum) / 1e6)")
        lines.append("\(name)_count\(Self.text(labels)) \(count)")
    }

    /// From 128 microseconds to 67 seconds: bounds that are ends of buckets, so that no count is a
    /// guess.
    private static let octaves = 7...26

    private static func text(_ labels: Labels) -> String {
        guard !labels.isEmpty else { return "" }
        let parts = labels.map { "\($0.name)=\"\(escaped($0.value))\"" }
        return "{\(parts.joined(separator: ","))}"
    }

    private static func escaped(_ value: String) -> String {
        // By scalars: a line end behind a carriage return is one character together with it.
        value.unicodeScalars.map { scalar in
            switch scalar {
            case "\\": "\\\\"
            case "\"": "\\\""
            case "\n": "\\n"
            default: String(scalar)
            }
        }.joined()
    }
}
