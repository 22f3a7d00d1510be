extension RequestContext {
    /// Throws the first thing that is wrong with it. Whether a name is known is for the
    /// configuration to say.
    public func check() throws(ImageError) {
        if isEmpty { return }
        for (name, value) in others.sorted(by: { $0.key < $1.key }) { try Self.check(name, value) }
        try Self.check(name: profile, "profile")
        try Self.check(name: cache, "cache")
        try Self.check(name: originalCache, "cache of the original")
        try Self.check(name: loader, "loader")
        try Self.check(name: preset, "preset")
        if let scaleFactor, !(scaleFactor.isFinite && scaleFactor >= 1) {
            throw ImageError(.invalidRequest, "the scale factor is a number from 1 up")
        }
        if let scaleDownLimit, !ScaleDownStep.traits.range.contains(scaleDownLimit) {
            throw ImageError(
                .invalidRequest,
                "the limit of bytes is a number from 1 to \(RequestLimits.scaleDownBytesMax)")
        }
        try encodeOptions?.check()
        try CacheTag.check(tags)
        try extendedData?.check()
        try key?.check()
        if case .url(let url) = fallback { try Self.check(fallback: url) }
        if case .named(let name) = serializer { try Self.check(name: name, "serializer") }
        if case .transcode(let format, let quality) = serializer {
            guard format.isEncodable else { throw .notEncoded(format) }
            guard quality.map({ (0...100).contains($0) }) ?? true else {
                throw ImageError(.invalidRequest, "the quality is a number from 0 to 100")
            }
        }
    }

    /// SDWebImage's other options are known and not there; anything else is a mistake.
    private static func check(_ name: String, _ value: String) throws(ImageError) {
        guard let key = ContextKey(rawValue: name) else {
            throw ImageError(.invalidRequest, "a context option is unknown to this version")
        }
        if ContextKey.withoutEffect.contains(key) { return }
        if key == .imageCoder { return try check(name: value, "coder") }
        guard ContextKey.notSupported.contains(key) else {
            throw ImageError(.invalidRequest, "a context option has a field of its own: \(name)")
        }
        throw ImageError.notSupported(name)
    }

    /// Whether the URL may be loaded is asked when it is needed, as for any other.
    private static func check(fallback text: String) throws(ImageError) {
        do throws(ImageError) {
            let url = try SourceURL(text)
            guard url.userInfo == nil else {
                throw ImageError(.invalidRequest, "it is loaded without credentials")
            }
        } catch {
            throw ImageError(.invalidRequest, "the URL of the fallback: \(error.message)")
        }
    }

    /// Throws where there is a name and nothing may be called so; `what` is for the sentence.
    public static func check(name: String?, _ what: String) throws(ImageError) {
        guard let name else { return }
        guard isName(name) else {
            throw ImageError(
                .invalidRequest,
                "the name of a \(what) has 1 to \(RequestLimits.nameBytesMax) bytes and no spaces")
        }
    }

    /// Whether something may be called so: 1 to `RequestLimits.nameBytesMax` bytes, neither spaces
    /// nor control characters.
    public static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= RequestLimits.nameBytesMax
            && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
    }
}

extension BaseKey {
    fileprivate func check() throws(ImageError) {
        switch self {
        case .filter(let name): try RequestContext.check(name: name, "key filter")
        case .text(let text):
            guard Self.isText(text) else {
                throw ImageError(
                    .invalidRequest,
                    "a cache key has 1 to \(RequestLimits.urlBytesMax) bytes "
                        + "and no control characters")
            }
        }
    }

    /// Whether a key may begin so: 1 to `RequestLimits.urlBytesMax` bytes, no control characters.
    public static func isText(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= RequestLimits.urlBytesMax
            && text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    }
}

extension ImageError {
    /// SDWebImage has this option, this version does not.
    public static func notSupported(_ option: String) -> ImageError {
        ImageError(
            .notSupported, "\(option) is not supported by this version",
            details: ["option": option])
    }
}
