/// SDWebImage's words for an encoder (`imageEncodeOptions`). They say something only where an image
/// is encoded, and only what the request's output does not say itself (SEMANTICS §11.23).
public struct EncodeOptions: Hashable, Sendable {
    /// Of lossy formats, 0 to 100: upstream's 0 to 1 in hundredths; `nil` says nothing.
    public var quality: Int?
    /// What is seen behind transparent pixels in a format that has none; its alpha says nothing.
    public var background: Colour?
    /// The result is scaled down until it lies inside, its ratio kept; it is never enlarged.
    public var maxPixelSize: PixelSize?
    /// Bytes of the result at most, 1 to `OutputOptions.maxBytesRange.upperBound`: as the output's
    /// `maxBytes`.
    public var maxBytes: Int?
    /// Whether a small image is in the EXIF of a JPEG: as the output's `embedsThumbnail`.
    public var embedsThumbnail = false

    /// Says nothing.
    public init() {}

    /// Throws the first thing that is wrong with it.
    func check() throws(ImageError) {
        if let quality, !Self.qualities.contains(quality) {
            throw Self.invalid("the quality is a number from 0 to 100")
        }
        if let maxBytes, !OutputOptions.maxBytesRange.contains(maxBytes) {
            throw Self.invalid(
                "the limit of bytes is a number from 1 to \(OutputOptions.maxBytesRange.upperBound)"
            )
        }
        try maxPixelSize?.checkAsBox(of: ContextKey.imageEncodeOptions.rawValue)
    }

    static let qualities = 0...100

    private static func invalid(_ sentence: String) -> ImageError {
        let option = ContextKey.imageEncodeOptions.rawValue
        return ImageError(
            .invalidRequest, "\(option): \(sentence)", details: ["option": option])
    }
}

extension ImageRequest {
    /// Makes output and a last step of the words for an encoder, which then say nothing more. `own`
    /// is what counts before them: the output that the request itself asked for, or a rule. What is
    /// not encoded stays as it is: the source's bytes, and facts.
    package mutating func applyEncodeOptions(besides own: OutputOptions) {
        guard let options = context.encodeOptions else { return }
        context.encodeOptions = nil
        guard !infoOnly, !isPlain else { return }
        if own.quality == nil, let quality = options.quality { output.quality = quality }
        if own[.background] == nil, let background = options.background, has(.background) {
            output.background = background
        }
        if own[.maxBytes] == nil, let maxBytes = options.maxBytes, has(.maxBytes) {
            output.maxBytes = maxBytes
        }
        if options.embedsThumbnail, has(.embedThumbnail) { output.embedsThumbnail = true }
        if let box = options.maxPixelSize { steps.append(.resize(box, .fit)) }
    }

    /// Whether the format that is asked for has the setting; where none is, its encoder sees.
    private func has(_ setting: OutputSetting) -> Bool {
        output.format.map(setting.row.formats.contains) ?? true
    }
}
