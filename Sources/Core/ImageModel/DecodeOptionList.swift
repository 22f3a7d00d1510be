/// SDWebImage's words for a decoder as one text, `NAME=VALUE` with commas between them: each says
/// the same as a context option of its own, which wins where both are there.
enum DecodeOptionList {
    /// What the words say; throws for a word that is none, and for what is wrong with its value.
    static func settings(_ text: String) throws(ContextSettingError) -> [ContextSetting] {
        var settings: [ContextSetting] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let halves = part.split(separator: "=", maxSplits: 1)
            guard halves.count == 2, let word = Word(rawValue: String(halves[0])) else {
                throw ContextSettingError(
                    "'\(part)' is not one of "
                        + Word.allCases.map { "\($0.rawValue)=VALUE" }.joined(separator: ", "))
            }
            guard let key = word.key else { continue }
            let value = String(halves[1])
            do throws(ContextSettingError) {
                settings.append(try ContextSetting(key, value))
            } catch {
                throw ContextSettingError("\(word.rawValue) \(error.reason)")
            }
        }
        return settings
    }

    private enum Word: String, CaseIterable {
        case firstFrameOnly = "first-frame-only"
        case scaleFactor = "scale-factor"
        case preserveAspectRatio = "preserve-aspect-ratio"
        case thumbnailPixelSize = "thumbnail-pixel-size"
        case fileExtensionHint = "file-extension-hint"
        case typeIdentifierHint = "type-identifier-hint"
        case useLazyDecoding = "use-lazy-decoding"
        case scaleDownLimitBytes = "scale-down-limit-bytes"
        case decodeToHDR = "decode-to-hdr"

        /// `nil` where no context option says it: the first frame is an option of its own, the
        /// first bytes say the format, and pixels are made when they are needed.
        var key: ContextKey? {
            switch self {
            case .firstFrameOnly, .fileExtensionHint, .typeIdentifierHint, .useLazyDecoding: nil
            case .scaleFactor: .imageScaleFactor
            case .preserveAspectRatio: .imagePreserveAspectRatio
            case .thumbnailPixelSize: .imageThumbnailPixelSize
            case .scaleDownLimitBytes: .imageScaleDownLimitBytes
            case .decodeToHDR: .imageDecodeToHDR
            }
        }
    }
}
