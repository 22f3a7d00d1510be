package import ImageModel
import WebGrammar

/// What a client accepts (RFC 9110 §12.5.1), as far as images are concerned.
///
/// Weights count: `q=0` is a refusal. Of several ranges that match a type the most specific one
/// counts, whatever its order.
package struct AcceptHeader: Hashable, Sendable {
    /// A range and its weight in thousandths.
    private struct Range: Hashable {
        let type: Substring
        let subtype: Substring
        let weight: Int
    }

    private let ranges: [Range]
    /// Ranges that are looked at; what lies behind them is ignored.
    private static let rangesMax = 64

    /// Reads the text of the field; `nil` or an empty one accepts everything.
    package init(_ text: String?) {
        let parts = (text ?? "").split(separator: ",").prefix(Self.rangesMax)
        ranges = parts.compactMap { Self.range($0) }
    }

    /// The formats of these that are accepted, those with the highest weight first; of the same
    /// weight in the order given.
    package func accepted(of formats: [ImageFormat]) -> [ImageFormat] {
        let weighed = formats.enumerated().map { (place: $0, format: $1, weight: weight(of: $1)) }
        return weighed.filter { $0.weight > 0 }
            .sorted { ($1.weight, $0.place) < ($0.weight, $1.place) }.map(\.format)
    }

    /// Whether it names the format itself, and not merely a range that it lies in. Browsers say
    /// `image/*` of what they cannot all show: new formats are for those who name them.
    package func names(_ format: ImageFormat) -> Bool {
        guard let mime = format.mimeType else { return false }
        return ranges.contains { "\($0.type)/\($0.subtype)" == mime && $0.weight > 0 }
    }

    /// Whether it names JSON.
    package var namesJSON: Bool {
        ranges.contains { $0.type == "application" && $0.subtype == "json" && $0.weight > 0 }
    }

    /// The weight of a format in thousandths.
    package func weight(of format: ImageFormat) -> Int {
        guard !ranges.isEmpty else { return 1_000 }
        guard let mime = format.mimeType else { return 0 }
        let parts = mime.split(separator: "/")
        guard parts.count == 2 else { return 0 }
        for (type, subtype) in [(parts[0], parts[1]), (parts[0], "*"), ("*", "*")] {
            let found = ranges.filter { $0.type == type && $0.subtype == subtype }
            if let most = found.map(\.weight).max() { return most }
        }
        return 0
    }

    private static func range(_ text: Substring) -> Range? {
        let words = text.split(separator: ";", omittingEmptySubsequences: false)
            .map { $0.trimmedOfBlanks }
        guard let parts = words.first?.split(separator: "/", omittingEmptySubsequences: false),
            parts.count == 2, parts.allSatisfy({ !$0.isEmpty })
        else { return nil }
        var weight = 1_000
        for word in words.dropFirst() {
            guard let value = word.lowercased().parameter("q") else { continue }
            guard let thousandths = Self.thousandths(value) else { return nil }
            weight = thousandths
        }
        return Range(
            type: Substring(parts[0].lowercased()), subtype: Substring(parts[1].lowercased()),
            weight: weight)
    }

    /// `0`, `1`, or one of them with at most three decimals (RFC 9110 §12.4.2).
    private static func thousandths(_ text: Substring) -> Int? {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, first == "0" || first == "1" else { return nil }
        let decimals = parts.count == 2 ? parts[1] : ""
        guard decimals.count <= 3, decimals.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        let padded = decimals + String(repeating: "0", count: 3 - decimals.count)
        let value = (first == "1" ? 1_000 : 0) + (Int(padded) ?? 0)
        return value <= 1_000 ? value : nil
    }
}

extension StringProtocol {
    /// The value of `name=value`, without blanks; `nil` for another name.
    fileprivate func parameter(_ name: String) -> Substring? {
        let parts = split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].trimmedOfBlanks == name else { return nil }
        return Substring(parts[1].trimmedOfBlanks)
    }
}
