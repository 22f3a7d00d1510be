package import Model
package import WebGrammar

/// The formats a client accepts, from the `Accept` field (RFC 9110 §12.5.1).
///
/// Weights are respected, and `q=0` is a refusal. Of several ranges that match a type, the most
/// specific one counts, regardless of order.
package struct AcceptHeader: Hashable, Sendable {
    /// A range and its weight in thousandths.
    private struct Range: Hashable {
        /// The types, such as `image/png` or `image/*`.
        let types: String
        let weight: Int
    }

    private let ranges: [Range]
    /// The number of ranges evaluated; further ones are ignored.
    private static let rangesMax = 64

    /// Parses the field; `nil` or an empty text accepts everything.
    package init(_ text: String?) {
        let parts = (text ?? "").split(separator: ",").prefix(Self.rangesMax)
        ranges = parts.compactMap { Self.range($0) }
    }

    /// Returns the accepted formats among `formats`, by descending weight; those of equal weight
    /// keep their order.
    package func accepted(of formats: [ImageFormat]) -> [ImageFormat] {
        let weighed = formats.enumerated().map { (place: $0, format: $1, weight: weight(of: $1)) }
        return weighed.filter { $0.weight > 0 }
            .sorted { ($1.weight, $0.place) < ($0.weight, $1.place) }.map(\.format)
    }

    /// Whether the field names the format explicitly, and not only by a range that includes it.
    /// Browsers send `image/*` although they don't support all formats, so newer formats are only
    /// used for clients that name them.
    package func names(_ format: ImageFormat) -> Bool {
        guard let mime = format.mimeType else { return false }
        return ranges.contains { $0.types == mime && $0.weight > 0 }
    }

    /// Whether the field names JSON.
    package var namesJSON: Bool {
        ranges.contains { $0.types == "application/json" && $0.weight > 0 }
    }

    /// Returns the weight of a format in thousandths.
    package func weight(of format: ImageFormat) -> Int {
        guard !ranges.isEmpty else { return 1_000 }
        guard let mime = format.mimeType else { return 0 }
        let topLevel = mime.prefix { $0 != "/" }
        for types in [mime, "\(topLevel)/*", "*/*"] {
            let found = ranges.filter { $0.types == types }
            if let most = found.map(\.weight).max() { return most }
        }
        return 0
    }

    private static func range(_ text: Substring) -> Range? {
        let words = text.split(separator: ";", omittingEmptySubsequences: false)
            .map { $0.trimmedOfBlanks }
        let parts = words[0].split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty }) else { return nil }
        var weight = 1_000
        for word in words.dropFirst() {
            let parts = word.lowercased()
                .split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                .map(\.trimmedOfBlanks)
            guard parts.count == 2, parts[0] == "q" else { continue }
            guard let thousandths = Self.thousandths(parts[1]) else { return nil }
            weight = thousandths
        }
        return Range(types: words[0].lowercased(), weight: weight)
    }

    /// Parses `0` or `1` with at most three decimals (RFC 9110 §12.4.2), as thousandths.
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

extension AcceptHeader {
    /// Whether any image format is accepted.
    package var acceptsImages: Bool {
        ImageFormat.allCases.contains { weight(of: $0) > 0 }
    }

    /// Returns the offered formats that this client prefers to the source's format, the best first.
    /// A client that doesn't name a format may not support it, even if it sends `*/*`.
    func better(of offered: [ImageFormat]) -> [ImageFormat] {
        let usual = min(weight(of: .jpeg), weight(of: .png))
        return accepted(of: offered.filter { names($0) }).filter { weight(of: $0) >= usual }
    }

    /// Returns a format to convert an image to whose own format is not accepted; `nil` if there is
    /// none.
    package func replacement(for info: ImageInfo) -> ImageFormat? {
        let order: [ImageFormat] =
            info.hasAlpha
            ? [.png, .webp, .avif, .gif, .tiff, .jxl, .jpeg]
            : [.jpeg, .png, .webp, .avif, .gif, .tiff, .jxl]
        return accepted(of: order.filter(\.isEncodable)).first { $0 != info.format }
    }
}

/// The client hints that a listener uses (RFC 8942).
package struct HintSettings: Sendable {
    /// The widths in pixels, ascending, to which hints are rounded up, so that caches hold few
    /// variants. A larger hint is treated as the last width.
    package var widths = [
        160, 320, 480, 640, 768, 960, 1_280, 1_600, 1_920, 2_560, 3_840,
    ]
    /// The pixel ratios to which hints are rounded up.
    package var ratios = [1.0, 1.5, 2.0, 3.0]
    /// The quality for clients that save data, if the path doesn't specify one.
    package var savingQuality: Int? = 50
    /// The grammar for clients that save data, if a preset applies to them.
    package var savingGrammar: (any URLGrammar)?

    /// The fields for the width, the newer name first.
    package static let ofWidth = ["Sec-CH-Width", "Width"]
    /// The fields for the pixel ratio.
    package static let ofRatio = ["Sec-CH-DPR", "DPR"]
    /// The field for saving data.
    package static let ofSaving = "Save-Data"

    /// Whether responses depend on saving data.
    package var looksAtSaving: Bool { savingQuality != nil || savingGrammar != nil }
}

/// The hints of a client, reduced to what affects the response.
package struct ClientHints: Hashable, Sendable {
    /// The width of the image on the screen in pixels, rounded up to one of the configured widths.
    package let width: Int?
    /// The pixel ratio, rounded up likewise.
    package let ratio: Double?
    /// Whether the client asks for less data.
    package let savesData: Bool

    /// Parses the fields; invalid numbers are ignored.
    package init(_ field: (String) -> String?, _ settings: HintSettings) {
        width = Self.choice(among: settings.widths, for: HintSettings.ofWidth.compactMap(field))
        // Digits with at most one decimal point; `1e3`, `inf` and `0x2` are invalid.
        ratio = Self.choice(
            among: settings.ratios, for: HintSettings.ofRatio.compactMap(field), besides: ".")
        savesData =
            settings.looksAtSaving
            && field(HintSettings.ofSaving)?.trimmedOfBlanks.lowercased() == "on"
    }

    /// Returns the choice for the first valid number, which has at most nine digits and other
    /// allowed characters: the smallest one that isn't below it, or the last one.
    private static func choice<Number: LosslessStringConvertible & Comparable & Numeric>(
        among choices: [Number], for texts: [String], besides others: String = ""
    ) -> Number? {
        let stated = texts.lazy.compactMap { text -> Number? in
            let text = text.trimmedOfBlanks
            let isAllowed = text.utf8.allSatisfy { (0x30...0x39) ~= $0 || others.utf8.contains($0) }
            guard (1...9).contains(text.utf8.count), isAllowed else { return nil }
            return Number(String(text)).flatMap { $0 > 0 ? $0 : nil }
        }.first
        return stated.flatMap { stated in choices.first { $0 >= stated } ?? choices.last }
    }
}
