package import ImageModel
package import WebGrammar

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

extension AcceptHeader {
    /// Whether anything is accepted that an image can be.
    package var acceptsImages: Bool {
        ImageFormat.allCases.contains { weight(of: $0) > 0 }
    }

    /// Those of the formats offered that are better for this client than the source's would be,
    /// the best first. Who does not name them may not be able to show them, whatever `*/*` says.
    func better(of offered: [ImageFormat]) -> [ImageFormat] {
        let usual = min(weight(of: .jpeg), weight(of: .png))
        return accepted(of: offered.filter { names($0) }).filter { weight(of: $0) >= usual }
    }

    /// A format to make of an image that came in one which is not accepted; `nil`: there is none.
    package func replacement(for info: ImageInfo) -> ImageFormat? {
        let order: [ImageFormat] =
            info.hasAlpha
            ? [.png, .webp, .avif, .gif, .tiff, .jxl, .jpeg]
            : [.jpeg, .png, .webp, .avif, .gif, .tiff, .jxl]
        return accepted(of: order.filter(\.isEncodable)).first { $0 != info.format }
    }
}

/// What clients may say of themselves where a listener looks at it (client hints, RFC 8942).
package struct HintSettings: Sendable {
    /// Pixels in width to which what clients say is rounded up, in ascending order: caches hold few
    /// variants then. What is beyond the last one is that one.
    package var widths = [
        160, 320, 480, 640, 768, 960, 1_280, 1_600, 1_920, 2_560, 3_840,
    ]
    /// The same of pixels a point.
    package var ratios = [1.0, 1.5, 2.0, 3.0]
    /// The quality for those who save data, where the path says none.
    package var savingQuality: Int? = 50
    /// How paths are read for those who save data, where a preset of theirs holds.
    package var savingGrammar: (any URLGrammar)?

    package init() {}

    /// Names of fields that are looked at, in the order of `Accept-CH`.
    package static let names = ["Sec-CH-Width", "Width", "Sec-CH-DPR", "DPR", "Save-Data"]
    /// Fields of a width, the newer name first.
    package static let ofWidth = ["Sec-CH-Width", "Width"]
    /// Fields of pixels a point.
    package static let ofRatio = ["Sec-CH-DPR", "DPR"]
    /// The field of who saves data.
    package static let ofSaving = "Save-Data"

    /// Whether it makes a difference who saves data.
    package var looksAtSaving: Bool { savingQuality != nil || savingGrammar != nil }
}

/// What one client says of itself, as far as it counts.
package struct ClientHints: Hashable, Sendable {
    /// Pixels on its screen that the image will cover across, rounded up to the ladder.
    package let width: Int?
    /// Pixels a point, likewise.
    package let ratio: Double?
    /// Whether it wants few bytes.
    package let savesData: Bool

    /// Reads the fields; what is no number says nothing.
    package init(_ field: (String) -> String?, _ settings: HintSettings) {
        let widths = HintSettings.ofWidth.compactMap { field($0).flatMap { Self.whole($0) } }
        width = widths.first.flatMap { said in
            settings.widths.first { $0 >= said } ?? settings.widths.last
        }
        let ratios = HintSettings.ofRatio.compactMap { field($0).flatMap { Self.decimal($0) } }
        ratio = ratios.first.flatMap { said in
            settings.ratios.first { $0 >= said } ?? settings.ratios.last
        }
        savesData =
            settings.looksAtSaving
            && field(HintSettings.ofSaving)?.trimmedOfBlanks.lowercased() == "on"
    }

    private static func whole(_ text: String) -> Int? {
        let text = text.trimmedOfBlanks
        guard (1...9).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39) ~= $0 }),
            let number = Int(text), number > 0
        else { return nil }
        return number
    }

    /// Digits and at most one point: `1e3`, `inf` and `0x2` are none.
    private static func decimal(_ text: String) -> Double? {
        let text = text.trimmedOfBlanks
        guard (1...9).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x30...0x39) ~= $0 || $0 == UInt8(ascii: ".") }),
            let number = Double(String(text)), number.isFinite, number > 0
        else { return nil }
        return number
    }
}
