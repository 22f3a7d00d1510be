/// What is written into the caches instead of the bytes that are delivered (SEMANTICS §5.8).
public enum Serializer: Hashable, Sendable {
    /// The bytes as they are.
    case asIs
    /// The image in another format; `nil` is `OutputOptions.defaultQuality`.
    case transcode(ImageFormat, quality: Int?)
    /// A serializer of the configuration, by name.
    case named(String)

    /// `as-is`, `transcode:FORMAT`, `transcode:FORMAT:QUALITY` with a quality from 0 to 100, or the
    /// name of one; `nil` for what begins like a transcode and is none.
    public init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts[0] == "transcode" else {
            self = text == "as-is" ? .asIs : .named(text)
            return
        }
        guard (2...3).contains(parts.count), let format = ImageFormat(name: String(parts[1])) else {
            return nil
        }
        let digits = parts.count == 3 ? parts[2] : "0"
        guard (1...3).contains(digits.utf8.count),
            digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let quality = Int(digits),
            quality <= 100
        else { return nil }
        self = .transcode(format, quality: parts.count == 3 ? quality : nil)
    }

    /// How the image is encoded; `nil` where its bytes are written as they are.
    public var output: OutputOptions? {
        guard case .transcode(let format, let quality) = self else { return nil }
        return OutputOptions(format: format, quality: quality)
    }
}
