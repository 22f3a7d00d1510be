package import WebGrammar

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
