public import ImageModel

/// What a request target wants.
public struct WebRequest: Hashable, Sendable {
    /// What is answered.
    public enum Kind: Hashable, Sendable {
        /// The image.
        case image
        /// The bytes of the source as they are, whatever they are.
        case source
        /// Facts of the source, in the words of the grammar: thumbor's metadata, IIIF's
        /// `info.json`. The request asks for facts only.
        case facts
        /// Nothing but where the facts are: the base URI of IIIF is answered 303 with the path of
        /// its `info.json`.
        case redirect(path: String)
    }

    /// What is answered.
    public var kind: Kind
    /// What is asked of the stack.
    public var image: ImageRequest
    /// The qualities that were said for formats by name, where the format is left open: whoever
    /// chooses one takes that of it. Empty where the output says all.
    public var formatQualities: [ImageFormat: Int]
    /// Formats whose sources are answered as they are, unless the output is of another one.
    public var skippedFormats: [ImageFormat]
    /// Frames of an animation that are kept at most; `nil`: not said.
    public var framesMax: Int?
    /// Seconds since 1970 until which an answer may be given, and so be kept; `nil`: without end.
    public var expires: Int?
    /// Seconds that an answer may be kept for; `nil`: not said.
    public var maxAge: Int?
    /// What a file of it is called; `nil`: not said.
    public var fileName: String?
    /// Whether browsers are to save it, rather than show it.
    public var isAttachment: Bool
    /// A text that makes another URL of the same image: it is in no key of the stack.
    public var cacheBuster: String?
    /// The presets that were used, in their order.
    public var presets: [String]
    /// IIIF: the name of the image, decoded; `nil` in other grammars.
    public var identifier: String?
    /// Whether the path says how many pixels a point its sizes have, so that no client does.
    public var saysPixelRatio: Bool
    /// What the image has to measure, 0 for a side that follows: where it comes out smaller, the
    /// source is smaller, and the answer is an error (IIIF Image API 3.0, section 4.2). `nil`: as
    /// it comes.
    public var leastSize: PixelSize?

    /// An image as the request says, and nothing else.
    public init(_ image: ImageRequest, kind: Kind = .image) {
        (self.image, self.kind) = (image, kind)
        (formatQualities, skippedFormats) = ([:], [])
        isAttachment = false
        saysPixelRatio = false
        presets = []
    }

    /// Whether the format of the image is left to what the client accepts.
    public var negotiatesFormat: Bool { kind == .image && image.output.format == nil }
}

extension WebRequest {
    /// Whether a result of that size has its least size; one that is not known has.
    public func isLargeEnough(_ size: PixelSize?) -> Bool {
        guard let leastSize, let size else { return true }
        return size.width >= leastSize.width && size.height >= leastSize.height
    }

    /// The same, once it is known that the stack will not refuse it for what it says.
    func checked() throws(GrammarError) -> WebRequest {
        do throws(ImageError) {
            try checkImage()
        } catch {
            throw GrammarError(.malformed, error.message, option: error.details["step"])
        }
        return self
    }

    private func checkImage() throws(ImageError) {
        _ = try SourceURL(image.url)
        guard image.steps.count <= RequestLimits.stepsMax else {
            throw ImageError(
                .invalidRequest,
                "the options come to more than \(RequestLimits.stepsMax) steps: use fewer")
        }
        guard image.overlays.count <= RequestLimits.overlaysMax else {
            throw ImageError(
                .invalidRequest,
                "at most \(RequestLimits.overlaysMax) watermarks are accepted: use fewer")
        }
        for step in image.steps { try step.form.check(pixelsMax: RequestLimits.pixelsMax) }
        try image.output.check()
        try image.facts.check()
    }
}
