/// SDWebImage's words for an encoder as one text, `NAME=VALUE` with commas between them.
enum EncodeOptionList {
    /// What the words say; throws for a word that is none, and for what is wrong with its value.
    static func options(_ text: String) throws(ContextSettingError) -> EncodeOptions {
        var options = EncodeOptions()
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let halves = part.split(separator: "=", maxSplits: 1)
            guard halves.count == 2, let word = Word(rawValue: String(halves[0])) else {
                throw ContextSettingError(
                    "'\(part)' is not one of "
                        + Word.allCases.map { "\($0.rawValue)=VALUE" }.joined(separator: ", "))
            }
            guard try word.isTaken(String(halves[1]), by: &options) else {
                throw ContextSettingError("\(word.rawValue) is \(word.expected)")
            }
        }
        return options
    }

    private enum Word: String, CaseIterable {
        case compressionQuality = "compression-quality"
        case backgroundColor = "background-color"
        case maxPixelSize = "max-pixel-size"
        case maxFileSize = "max-file-size"
        case embedThumbnail = "embed-thumbnail"
        case firstFrameOnly = "first-frame-only"

        /// False for the text of something else.
        func isTaken(
            _ text: String, by options: inout EncodeOptions
        ) throws(ContextSettingError) -> Bool {
            switch self {
            case .compressionQuality:
                guard let quality = PlainNumber.decimal(text), (0...1).contains(quality) else {
                    return false
                }
                options.quality = Int((quality * 100).rounded())
            case .backgroundColor:
                guard let colour = Colour(text), colour.alpha == UInt8.max else { return false }
                options.background = colour
            case .maxPixelSize:
                if text == "0x0" {
                    options.maxPixelSize = nil
                } else {
                    guard let box = PixelSize(text) else { return false }
                    options.maxPixelSize = box
                }
            case .maxFileSize:
                guard let bytes = PlainNumber.scaled(text, by: 1_024),
                    bytes == 0 || OutputOptions.maxBytesRange.contains(bytes)
                else { return false }
                options.maxBytes = bytes == 0 ? nil : bytes
            case .embedThumbnail: options.embedsThumbnail = try YesOrNo.isYes(text)
            // Of frames of an animation the decoder makes no other one then.
            case .firstFrameOnly: _ = try YesOrNo.isYes(text)
            }
            return true
        }

        var expected: String {
            switch self {
            case .compressionQuality: "a number from 0 to 1, such as 0.8"
            case .backgroundColor: "an opaque colour, #RRGGBB"
            case .maxPixelSize: "WIDTHxHEIGHT in pixels, such as 512x418, or 0x0 for none"
            case .maxFileSize:
                "a number of bytes from 1 to \(OutputOptions.maxBytesRange.upperBound), or 0 for "
                    + "none"
            case .embedThumbnail, .firstFrameOnly: "yes or no"
            }
        }
    }
}

/// What options say that are there or not.
enum YesOrNo {
    static func isYes(_ text: String) throws(ContextSettingError) -> Bool {
        switch text {
        case "yes", "true", "1": return true
        case "no", "false", "0": return false
        default: throw ContextSettingError("'\(text)' is not one of yes, no")
        }
    }

    /// Whether a list of words for a decoder or an encoder wants no frame but the first one.
    static func isFirstFrameOnly(_ list: String) -> Bool {
        list.split(separator: ",").contains { part in
            let halves = part.split(separator: "=", maxSplits: 1)
            guard halves.count == 2, halves[0] == "first-frame-only" else { return false }
            return (try? isYes(String(halves[1]))) == true
        }
    }
}
