import Derivation
import ImageModel
import Messages

/// What makes an image one that may be asked for; checked once for each set of names.
extension RequestNames {
    /// Throws the first thing that is wrong with the source, the steps or the output.
    init(
        checking request: borrowing ImageRequest, _ terms: borrowing LoadTerms, isUpload: Bool,
        limits: ImageLimits
    ) throws(ImageError) {
        let url = try SourceURL(request.url)
        if isUpload {
            guard url.scheme == Scheduler.uploadScheme else { throw .noLoader(of: url) }
        } else {
            try terms.loader.check(scheme: url)
        }
        try Self.check(headers: request.headers)
        guard request.overlays.map(\.url) == terms.overlays.map(\.request.url) else {
            throw ImageError(.internalError, "overlays came without their terms")
        }
        let hasCredentials =
            url.userInfo != nil || request.headers.contains(where: \.isCredential)
        guard !hasCredentials || terms.identity != nil else {
            throw ImageError(.internalError, "credentials came without a digest of them")
        }
        try self.init(request, url, terms, limits)
    }

    /// Of an image that is painted: no loader takes its URL, which is but a name.
    init(painting request: ImageRequest, limits: ImageLimits) throws(ImageError) {
        try self.init(request, SourceURL(request.url), LoadTerms(), limits)
    }

    private init(
        _ request: borrowing ImageRequest, _ url: SourceURL, _ terms: borrowing LoadTerms,
        _ limits: ImageLimits
    ) throws(ImageError) {
        try Self.check(image: request, limits)
        self.init(request, url, terms)
        let bytes = max(result.utf8.count, original.utf8.count)
        guard bytes <= MessageLimits.keyBytesMax - Self.variantBytesMax else {
            throw ImageError(.invalidRequest, "the cache key is too long: use fewer steps")
        }
    }

    /// Throws where a name that stands for several caches makes too long a key in one of them.
    func check(_ layout: CacheLayout) throws(ImageError) {
        for text in [result, original] {
            try layout.check(text, bytesMax: MessageLimits.keyBytesMax - Self.variantBytesMax)
        }
    }

    /// Room for what an origin's answer may depend on.
    private static let variantBytesMax = 64

    /// So that the sentence stays within what a message carries.
    private static let nameToldMax = 64

    private static func check(headers: [HTTPHeader]) throws(ImageError) {
        guard headers.count <= RequestLimits.headersMax else {
            throw ImageError(
                .invalidRequest, "at most \(RequestLimits.headersMax) headers are accepted")
        }
        let bytes = headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
        guard bytes <= RequestLimits.headerBytesMax else {
            throw ImageError(
                .invalidRequest,
                "at most \(RequestLimits.headerBytesMax) bytes of headers are accepted")
        }
        guard headers.allSatisfy(\.isValid) else {
            throw ImageError(.invalidRequest, "a header has an invalid name or value")
        }
        for header in headers {
            guard let reason = header.refusal else { continue }
            let name = header.name.prefix(Self.nameToldMax)
            throw ImageError(
                .invalidRequest, "the header \(name) is not accepted: \(reason)",
                details: ["header": String(name)])
        }
    }

    /// Throws the first thing that is wrong with steps or output.
    static func check(image request: ImageRequest, _ limits: ImageLimits) throws(ImageError) {
        try check(steps: request, limits)
        try request.output.check()
        try request.facts.check()
        guard request.infoOnly || request.facts.kinds.isEmpty else {
            throw ImageError(
                .invalidRequest, "facts come without bytes: leave them out, or ask for facts only")
        }
    }

    private static func check(steps request: ImageRequest, _ limits: ImageLimits)
        throws(ImageError)
    {
        guard request.steps.count <= RequestLimits.stepsMax else {
            throw ImageError(
                .invalidRequest, "at most \(RequestLimits.stepsMax) steps are accepted")
        }
        guard request.pixelRatio == 1 else {
            let ratios = RequestLimits.pixelRatios
            throw ImageError(
                .invalidRequest,
                "the pixel ratio is a number from \(ratios.lowerBound) to "
                    + "\(Int(ratios.upperBound))")
        }
        guard request.frame.map((0..<RequestLimits.framesMax).contains) ?? true else {
            throw ImageError(
                .invalidRequest, "a frame is a number from 0 to \(RequestLimits.framesMax - 1)")
        }
        for step in request.allSteps { try step.form.check(pixelsMax: limits.pixelsMax) }
        guard !request.hasCustomSteps || KeptParts(request.output).isEmpty else {
            throw ImageError(
                .invalidRequest,
                "a custom step is given pixels and nothing else: leave out metadata and profile")
        }
        guard request.overlays.count <= RequestLimits.overlaysMax else {
            throw ImageError(
                .invalidRequest, "at most \(RequestLimits.overlaysMax) overlays are accepted")
        }
        guard !request.infoOnly || request.isPlain else {
            throw ImageError(
                .invalidRequest, "facts are those of the source: no steps, no output options")
        }
    }
}

extension ImageRequest {
    /// Throws the first thing that is wrong with how it is to be loaded.
    func checkWishes() throws(ImageError) {
        try assumedLifetime.check()
        guard options.isSubset(of: .known) else {
            throw ImageError(.invalidRequest, "an option is unknown to this version")
        }
        if let option = options.intersection(.notSupported).names.first {
            throw ImageError.notSupported(option)
        }
        try context.check()
        let tiers = queryCacheTypes.union(storeCacheTypes)
            .union(originalQueryCacheTypes).union(originalStoreCacheTypes)
        guard tiers.isSubset(of: .all) else {
            throw ImageError(.invalidRequest, "a cache type is none, disk, memory or all")
        }
        guard (1...RequestLimits.timeoutMillisecondsMax).contains(timeoutMilliseconds) else {
            throw ImageError(
                .invalidRequest,
                "the timeout is 1 to \(RequestLimits.timeoutMillisecondsMax) milliseconds")
        }
    }
}
