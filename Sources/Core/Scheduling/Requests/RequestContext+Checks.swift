import ImageModel
import Messages

extension RequestContext {
    /// Throws the first thing that is wrong with it. Whether a name is known is for the
    /// configuration to say.
    func check() throws(ImageError) {
        if isEmpty { return }
        try checkSupported()
        for (name, value) in others.sorted(by: { $0.key < $1.key }) { try Self.check(name, value) }
        try Self.check(name: profile, "profile")
        try Self.check(name: cache, "cache")
        try Self.check(name: originalCache, "cache of the original")
        try Self.check(name: loader, "loader")
        try Self.check(name: preset, "preset")
        if let scaleFactor, !(scaleFactor.isFinite && scaleFactor >= 1) {
            throw ImageError(.invalidRequest, "the scale factor is a number from 1 up")
        }
        try key?.check()
        if case .named(let name) = serializer { try Self.check(name: name, "serializer") }
        if case .transcode(let format, let quality) = serializer {
            guard format.isEncodable else {
                throw ImageError(
                    .unsupportedFormat, "\(format.name) is not encoded by this version")
            }
            guard quality.map({ (0...100).contains($0) }) ?? true else {
                throw ImageError(.invalidRequest, "the quality is a number from 0 to 100")
            }
        }
    }

    /// SDWebImage's other options are known and not there; anything else is a mistake.
    private static func check(_ name: String, _ value: String) throws(ImageError) {
        guard let key = ContextKey(rawValue: name), ContextKey.notSupported.contains(key) else {
            throw ImageError(.invalidRequest, "a context option is unknown to this version")
        }
        throw ImageError.notSupported(name)
    }

    /// What this version reads and does not act upon yet.
    private func checkSupported() throws(ImageError) {
        let parts: [(key: String, isSet: Bool)] = [
            ("custom-manager", profile != nil), ("image-cache", cache != nil),
            ("original-image-cache", originalCache != nil), ("image-loader", loader != nil),
            ("cache-key-filter", key != nil), ("cache-serializer", serializer != nil),
            ("image-scale-factor", scaleFactor != nil), ("preset", preset != nil),
            ("image-transformer", withoutTransformer), ("fallback", fallback != nil),
        ]
        if let part = parts.first(where: \.isSet) { throw ImageError.notSupported(part.key) }
    }

    static func check(name: String?, _ what: String) throws(ImageError) {
        guard let name else { return }
        let isName =
            !name.isEmpty && name.utf8.count <= RequestLimits.nameBytesMax
            && name.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
        guard isName else {
            throw ImageError(
                .invalidRequest,
                "the name of a \(what) has 1 to \(RequestLimits.nameBytesMax) bytes and no spaces")
        }
    }
}

extension BaseKey {
    fileprivate func check() throws(ImageError) {
        switch self {
        case .filter(let name): try RequestContext.check(name: name, "key filter")
        case .text(let text):
            guard !text.isEmpty, text.utf8.count <= RequestLimits.urlBytesMax,
                text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
            else {
                throw ImageError(
                    .invalidRequest,
                    "a cache key has 1 to \(RequestLimits.urlBytesMax) bytes "
                        + "and no control characters")
            }
        }
    }
}

extension ImageError {
    /// SDWebImage has this option, this version does not.
    static func notSupported(_ option: String) -> ImageError {
        ImageError(
            .notSupported, "\(option) is not supported by this version",
            details: ["option": option])
    }
}
