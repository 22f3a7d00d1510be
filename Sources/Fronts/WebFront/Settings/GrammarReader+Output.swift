package import ImageModel
import Messages
package import WebGrammar

// How images are written, by words of the operator.
extension GrammarReader {
    /// What holds where URLs do not say it.
    package func output() throws(GrammarError) -> OutputDefaults {
        var output = OutputDefaults()
        output.quality = value(.quality).flatMap { GatewaySetting.quality.number(of: $0) }
        if let text = value(.formatQuality) {
            output.qualities = try Self.numbers(text, .formatQuality) { _ in 1...100 }
        }
        if let text = value(.progressive) {
            let formats = try Self.formats(text, .progressive)
            if let other = formats.first(where: { ![.jpeg, .png, .gif].contains($0) }) {
                throw GrammarError(
                    .malformed,
                    "--progressive: \(other.name) is never progressive: name jpeg, png or gif")
            }
            output.progressive = Set(formats)
        }
        if let text = value(.effort) {
            output.efforts = try Self.numbers(text, .effort) { $0.traits.output?.efforts?.range }
        }
        return output
    }

    /// Formats where clients may choose; `none`: no choice.
    package func offered() throws(GrammarError) -> [ImageFormat]? {
        guard let text = value(.offer) else { return nil }
        return text == "none" ? [] : try Self.formats(text, .offer)
    }

    private static func formats(
        _ text: String, _ setting: GatewaySetting
    ) throws(GrammarError) -> [ImageFormat] {
        var formats: [ImageFormat] = []
        for word in text.split(separator: ",") {
            formats.append(try format(String(word.trimmedOfBlanks), setting))
        }
        return formats
    }

    private static func format(
        _ word: String, _ setting: GatewaySetting
    ) throws(GrammarError) -> ImageFormat {
        guard let format = ImageFormat(name: word), format.isEncodable else {
            throw GrammarError(
                .malformed,
                "--\(setting.rawValue): '\(word.prefix(40))' is not a format that is encoded: use "
                    + ImageFormat.encodable.map(\.name).joined(separator: ", "))
        }
        return format
    }

    /// `FORMAT=NUMBER,…`
    private static func numbers(
        _ text: String, _ setting: GatewaySetting, _ range: (ImageFormat) -> ClosedRange<Int>?
    ) throws(GrammarError) -> [ImageFormat: Int] {
        var numbers: [ImageFormat: Int] = [:]
        for item in text.split(separator: ",") {
            let words = item.split(separator: "=").map { String($0.trimmedOfBlanks) }
            guard words.count == 2 else {
                throw GrammarError(
                    .malformed,
                    "--\(setting.rawValue): '\(item.prefix(40))' is not FORMAT=NUMBER, such as "
                        + "webp=\(setting == .effort ? 4 : 75)")
            }
            let format = try format(words[0], setting)
            guard let range = range(format) else {
                throw GrammarError(
                    .malformed, "--\(setting.rawValue): \(format.name) has no such number")
            }
            guard let number = Int(words[1]), range.contains(number) else {
                throw GrammarError(
                    .malformed,
                    "--\(setting.rawValue): '\(words[1].prefix(20))' is not an integer between "
                        + "\(range.lowerBound) and \(range.upperBound), the range of \(format.name)"
                )
            }
            numbers[format] = number
        }
        return numbers
    }
}
