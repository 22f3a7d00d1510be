import Model

// The texts under which results and originals are cached.
extension Scheduler {
    /// Returns the names of a request. Operators' puts and reads use the key that they specify.
    func names(
        of image: ImageRequest, _ terms: LoadTerms, _ upload: Upload?
    ) throws(ImageError) -> RequestNames {
        if case .entry(let key) = terms.base {
            let text = try Self.storedText(of: key, in: terms.cache)
            try workGraph.layout.check(text, bytesMax: MessageLimits.keyBytesMax)
            return RequestNames(putting: key, in: terms.cache, image)
        }
        if let key = upload?.key {
            return RequestNames(putting: key, in: terms.cache, image)
        }
        return try names(of: image, terms, isUpload: upload != nil)
    }

    /// Returns the texts under which a request's result and original are cached, as far as known.
    /// Throws if its image is invalid.
    func names(
        of image: ImageRequest, _ terms: LoadTerms, isUpload: Bool = false
    ) throws(ImageError) -> RequestNames {
        let names = try RequestNames(
            checking: image, terms, isUpload: isUpload,
            limits: limits.workGraph.image.narrowed(by: terms.limits))
        if !workGraph.layout.isEmpty { try names.check(workGraph.layout) }
        // Usually no response varies, in which case hits pay nothing.
        guard !hits.variances.isEmpty, let fields = hits.variances[names.plainOriginal] else {
            return names
        }
        return names.varied(by: workGraph.variant(of: names.source, fields))
    }

    /// Returns the stored text of a key that an operator specifies. Throws if the key is invalid.
    static func storedText(of key: String, in cache: String) throws(ImageError) -> String {
        guard !key.isEmpty, key.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { throw noKey }
        let text = CacheKey.stored(shown: key, in: cache)
        guard text.utf8.count <= MessageLimits.keyBytesMax else { throw noKey }
        return text
    }

    func adopt(_ layout: CacheLayout) {
        workGraph.layout = layout
        hits.adopt(layout)
    }

    static let noKey = ImageError(
        .invalidRequest,
        "a cache key must have 1 to \(MessageLimits.keyBytesMax) bytes and no control characters")
}

/// Validation of images, which precedes the derivation of their names.
extension RequestNames {
    /// Creates the names. Throws the first error in the source, the steps or the output.
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
            throw ImageError(.internalError, "the terms of the overlays are missing")
        }
        let hasCredentials =
            url.userInfo != nil || request.headers.contains(where: \.isCredential)
        guard !hasCredentials || terms.identity != nil else {
            throw ImageError(.internalError, "the digest of the credentials is missing")
        }
        try self.init(request, url, terms, limits)
    }

    /// Creates the names of a painted image, whose URL serves only as a name and isn't loaded.
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
        try ImageError.require(
            bytes <= MessageLimits.keyBytesMax - Self.variantBytesMax,
            "the cache key is too long: use fewer steps")
    }

    /// Throws if a key becomes too long in a member of a composite cache.
    func check(_ layout: CacheLayout) throws(ImageError) {
        for text in [result, original] {
            try layout.check(text, bytesMax: MessageLimits.keyBytesMax - Self.variantBytesMax)
        }
    }

    /// Reserved space for variants, in bytes.
    private static let variantBytesMax = 64

    /// Keeps the message within the size limit of error messages.
    private static let reportedNameMax = 64

    private static func check(headers: [HTTPHeader]) throws(ImageError) {
        try ImageError.require(
            headers.count <= RequestLimits.headersMax,
            "at most \(RequestLimits.headersMax) headers are accepted")
        let bytes = headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
        try ImageError.require(
            bytes <= RequestLimits.headerBytesMax,
            "at most \(RequestLimits.headerBytesMax) bytes of headers are accepted")
        try ImageError.require(
            headers.allSatisfy(\.isValid),
            "a header has an invalid name or value")
        for header in headers {
            guard let reason = header.refusal else { continue }
            let name = header.name.prefix(Self.reportedNameMax)
            throw ImageError(
                .invalidRequest, "the header \(name) is not accepted: \(reason)"
            ) { $0.header = String(name) }
        }
    }

    /// Throws the first error in the steps or output.
    static func check(image request: ImageRequest, _ limits: ImageLimits) throws(ImageError) {
        try check(steps: request, limits)
        try request.output.check()
        try request.properties.check()
        try ImageError.require(
            request.infoOnly || request.properties.kinds.isEmpty,
            "image properties (facts) are delivered without image data: set info_only, or "
                + "leave out facts")
    }

    private static func check(steps request: ImageRequest, _ limits: ImageLimits)
        throws(ImageError)
    {
        try ImageError.require(
            request.steps.count <= RequestLimits.stepsMax,
            "at most \(RequestLimits.stepsMax) steps are accepted")
        // A valid ratio has been applied and reset to 1 (`applyPixelRatio`).
        guard request.pixelRatio == 1 else {
            let ratios = RequestLimits.pixelRatios
            throw ImageError(
                .invalidRequest,
                "the pixel ratio must be a number between \(ratios.lowerBound) and "
                    + "\(Int(ratios.upperBound))")
        }
        try ImageError.require(
            request.frame.map((0..<RequestLimits.framesMax).contains) ?? true,
            "the frame must be an integer between 0 and \(RequestLimits.framesMax - 1)")
        for step in request.allSteps { try step.form.check(pixelsMax: limits.pixelsMax) }
        try ImageError.require(
            !request.hasCustomSteps || KeptParts(request.output).isEmpty,
            "custom steps receive pixels only: leave out the output settings metadata and icc")
        try ImageError.require(
            request.overlays.count <= RequestLimits.overlaysMax,
            "at most \(RequestLimits.overlaysMax) overlays are accepted")
        try ImageError.require(
            !request.infoOnly || request.isPlain,
            "info_only describes the source: leave out steps and output options")
    }
}

extension ImageRequest {
    /// Throws the first error in the loading options.
    func checkLoadOptions() throws(ImageError) {
        try assumedLifetime.check()
        try ImageError.require(
            options.isSubset(of: .known),
            "the request has an option that this version does not support")
        if let option = options.intersection(.notSupported).names.first {
            throw ImageError.notSupported(option)
        }
        try context.check()
        let tiers = queryCacheTypes.union(storeCacheTypes)
            .union(originalQueryCacheTypes).union(originalStoreCacheTypes)
        try ImageError.require(
            tiers.isSubset(of: .all),
            "the cache type must be none, disk, memory or all")
        try ImageError.require(
            (1...RequestLimits.timeoutMillisecondsMax).contains(timeoutMilliseconds),
            "the timeout must be 1 to \(RequestLimits.timeoutMillisecondsMax) milliseconds")
    }
}
