import CommandLineInterface
import Imagebus
import Linux
import Model

/// The output of `get --json` (SEMANTICS §15.3). Every member is always present, and null if
/// unknown.
struct GetAnswer: Encodable, Sendable {
    /// How a request ended.
    enum Status: String, Encodable {
        case ok
        case miss
        case error
    }

    /// An error, as in the table of errors.
    struct Failure: Encodable {
        let domain: String
        let code: Int64
        let name: String
        let message: String
        let retryable: Bool
        let details: [String: String]

        init(_ failure: OutputError) {
            domain = "NSPOSIXErrorDomain"
            code = Int64(failure.reason.rawValue)
            name = OutputError.name
            message = failure.message
            retryable = false
            details = ["path": failure.destination]
        }

        init(_ failure: ImageError) {
            domain = failure.domain
            code = failure.number
            name = failure.code.rule.name
            message = failure.message
            retryable = failure.retryable
            details = failure.details
        }
    }

    let status: Status
    let cacheType: String
    let format: String?
    let width: Int?
    let height: Int?
    let pages: Int?
    /// The number of frames of which the image is the first; null unless it is a still of an
    /// animation.
    let stillOf: Int?
    /// The bits per sample; 8 if there are fewer.
    let bits: Int?
    /// Whether it is a high dynamic range image.
    let hdr: Bool?
    /// Whether the source is damaged and pixels are missing.
    let damaged: Bool?
    /// The image properties requested by `--properties`; null without it.
    let properties: PropertiesAnswer?
    /// The explanation requested by `--explain`; null without it.
    let explanation: ExplanationAnswer?
    /// The freshness reported with `--explain` and `--respect-cache-control`; null without them.
    let freshness: FreshnessAnswer?
    let bytes: Int?
    /// The digest of the bytes in the form of `Repr-Digest`; null if unknown.
    let digest: String?
    /// The extended data requested by `--extended-data`; null without it or if there is none.
    let extendedData: ExtendedDataAnswer?
    /// The files written by `--partials`; null without it.
    let partials: PartialFiles.Account?
    let key: String?
    let scale: Double?
    let token: String?
    let timings: [String: Double]
    /// With `refresh-cached`, whether the image replaced a cached one.
    let refreshed: Bool?
    let error: Failure?
    /// The error because of which the image is the fallback.
    let fallbackFor: Failure?
    /// Additional notes about the image.
    let notes: [String]

    private enum CodingKeys: String, CodingKey {
        case status, cacheType, format, width, height, pages, stillOf, bits, hdr, damaged
        case properties = "facts"
        case explanation, freshness, bytes, digest, extendedData, partials, key, scale, token
        case timings, refreshed, error, fallbackFor, notes
    }

    /// Creates the answer for an image or a miss. If the refresh or the output failed, `failure`
    /// makes it an error.
    init(
        _ image: ImageResponse, _ provenance: ImageProvenance, token: String,
        request: ImageRequest, failure: Failure? = nil, partials: PartialFiles.Account? = nil
    ) {
        self.partials = partials
        status = failure != nil ? .error : image.isMiss ? .miss : .ok
        cacheType = provenance.cacheType.name
        format = image.info?.format.name
        width = image.info?.size.width
        height = image.info?.size.height
        pages = image.info?.pages
        stillOf = image.info?.stillOf
        (bits, hdr) = (image.info?.bits, image.info?.isHDR)
        damaged = image.isMiss ? nil : image.isDamaged
        properties = image.properties.map { PropertiesAnswer($0) }
        explanation = image.explanation.map { ExplanationAnswer($0, image, provenance) }
        freshness = image.validity.map { FreshnessAnswer($0) }
        bytes = image.bytes?.count
        digest = image.digest?.reprDigest
        extendedData = image.extendedData.map { ExtendedDataAnswer($0) }
        key = image.key
        scale = image.isMiss ? nil : image.scaleFactor
        self.token = token
        timings = Self.milliseconds(provenance.timings)
        refreshed = request.options.contains(.refreshCached) ? image.isRefreshed : nil
        error = failure
        fallbackFor = image.fallbackFor.map { Failure($0) }
        notes = ImageNotes.of(image, for: request)
    }

    /// Creates the answer for an error; there is no token if no request was sent.
    init(_ failure: ImageError, token: String?, totalMilliseconds: Double) {
        self.init(Failure(failure), token: token, totalMilliseconds: totalMilliseconds)
    }

    init(_ failure: Failure, token: String? = nil, totalMilliseconds: Double = 0) {
        status = .error
        cacheType = CacheTypes.none.name
        (format, width, height, pages, bytes) = (nil, nil, nil, nil, nil)
        (stillOf, properties, explanation, freshness) = (nil, nil, nil, nil)
        (key, scale) = (nil, nil)
        (bits, hdr, damaged) = (nil, nil, nil)
        (digest, extendedData, partials) = (nil, nil, nil)
        self.token = token
        var spent = StageTimings()
        spent.total = totalMilliseconds
        timings = Self.milliseconds(spent)
        refreshed = nil
        error = failure
        fallbackFor = nil
        notes = []
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(status, forKey: .status)
        try values.encode(cacheType, forKey: .cacheType)
        try values.encode(format, forKey: .format)
        try values.encode(width, forKey: .width)
        try values.encode(height, forKey: .height)
        try values.encode(pages, forKey: .pages)
        try values.encode(stillOf, forKey: .stillOf)
        try values.encode(bits, forKey: .bits)
        try values.encode(hdr, forKey: .hdr)
        try values.encode(damaged, forKey: .damaged)
        try values.encode(properties, forKey: .properties)
        try values.encode(explanation, forKey: .explanation)
        try values.encode(freshness, forKey: .freshness)
        try values.encode(bytes, forKey: .bytes)
        try values.encode(digest, forKey: .digest)
        try values.encode(extendedData, forKey: .extendedData)
        try values.encode(partials, forKey: .partials)
        try values.encode(key, forKey: .key)
        try values.encode(scale, forKey: .scale)
        try values.encode(token, forKey: .token)
        try values.encode(timings, forKey: .timings)
        try values.encode(refreshed, forKey: .refreshed)
        try values.encode(error, forKey: .error)
        try values.encode(fallbackFor, forKey: .fallbackFor)
        try values.encode(notes, forKey: .notes)
    }

    /// Returns the timings in milliseconds, rounded to microseconds.
    private static func milliseconds(_ timings: StageTimings) -> [String: Double] {
        let named = [
            "queue": timings.queue, "query": timings.query, "fetch": timings.fetch,
            "decode": timings.decode, "transform": timings.transform, "store": timings.store,
            "total": timings.total,
        ]
        return named.mapValues { ($0 * 1000).rounded() / 1000 }
    }
}

/// The image properties in `get --json` (SEMANTICS §15.3). Every member is always present, and null
/// if unknown or not requested.
struct PropertiesAnswer: Encodable, Sendable {
    let orientation: Int?
    let bitsPerSample: Int?
    let profile: String?
    /// The Exif values of the source by name.
    let exif: [String: String]
    /// In the form `#AARRGGBB`.
    let average: String?
    let dominant: String?
    let blurHash: String?
    let thumbHash: String?
    let animation: Animation?

    struct Animation: Encodable, Sendable {
        let frames: Int
        /// The duration of each frame in microseconds.
        let durations: [UInt32]
        /// The total duration.
        let milliseconds: Int
        /// How often all frames are played; 0 means endless.
        let loops: Int

        init(_ properties: AnimationProperties) {
            (frames, durations, loops) = (
                properties.durations.count, properties.durations, properties.plays
            )
            milliseconds = durations.reduce(0) { $0 + Int($1) } / 1_000
        }
    }

    private enum CodingKeys: String, CodingKey {
        case orientation, bitsPerSample, profile, exif, average, dominant, blurHash, thumbHash
        case animation
    }

    init(_ properties: ImageProperties) {
        orientation = properties.orientation
        bitsPerSample = properties.bitsPerSample
        profile = properties.profile
        exif = Dictionary(uniqueKeysWithValues: properties.exif.map { ($0.key.rawValue, $0.value) })
        average = properties.average.map { "#\($0)" }
        dominant = properties.dominant.map { "#\($0)" }
        blurHash = properties.blurHash
        thumbHash = properties.thumbHash
        animation = properties.animation.map { Animation($0) }
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(orientation, forKey: .orientation)
        try values.encode(bitsPerSample, forKey: .bitsPerSample)
        try values.encode(profile, forKey: .profile)
        try values.encode(exif, forKey: .exif)
        try values.encode(average, forKey: .average)
        try values.encode(dominant, forKey: .dominant)
        try values.encode(blurHash, forKey: .blurHash)
        try values.encode(thumbHash, forKey: .thumbHash)
        try values.encode(animation, forKey: .animation)
    }

    /// The known properties as human-readable lines, `name: value`.
    var lines: [String] {
        let header: [(String, String?)] = [
            ("orientation", orientation.map { "\($0)" }),
            ("bitsPerSample", bitsPerSample.map { "\($0)" }), ("profile", profile),
        ]
        let fields = ExifField.allCases.map { ($0.rawValue, exif[$0.rawValue]) }
        let pixels: [(String, String?)] = [
            ("average", average), ("dominant", dominant), ("blurHash", blurHash),
            ("thumbHash", thumbHash),
        ]
        let frames: [(String, String?)] = [
            ("frames", animation.map { "\($0.frames)" }),
            ("milliseconds", animation.map { "\($0.milliseconds)" }),
            ("loops", animation.map { $0.loops == 0 ? "forever" : "\($0.loops)" }),
        ]
        return (header + fields + pixels + frames).compactMap { name, value in
            value.map { "\(name): \($0)" }
        }
    }
}

/// How an image was produced, in `get --explain --json` (SEMANTICS §15.3). Every member is always
/// present.
struct ExplanationAnswer: Encodable, Sendable {
    /// The timings of the fetch in milliseconds.
    struct Fetched: Encodable {
        let name: Double
        let connect: Double
        let tls: Double
        let firstByte: Double
        let total: Double
        let bytes: Int
        let httpVersion: String
        let address: String
        let isReused: Bool
        let redirects: Int
        let continuations: Int
    }

    /// What was decoded.
    struct Decoded: Encodable {
        let format: String
        let width: Int
        let height: Int
        let columns: Int
        let rows: Int
        let pixels: Int
        let scale: Double
        let layout: String
    }

    /// How the image was encoded.
    struct Transformed: Encodable {
        let lane: String
        let foldedSteps: Int
        let format: String?
        let settings: [String: String]
        let attempts: Int
        /// Null unless it was determined by a limit on the size in bytes.
        let quality: Int?

        private enum CodingKeys: String, CodingKey {
            case lane, foldedSteps, format, settings, attempts, quality
        }

        func encode(to encoder: any Encoder) throws {
            var values = encoder.container(keyedBy: CodingKeys.self)
            try values.encode(lane, forKey: .lane)
            try values.encode(foldedSteps, forKey: .foldedSteps)
            try values.encode(format, forKey: .format)
            try values.encode(settings, forKey: .settings)
            try values.encode(attempts, forKey: .attempts)
            try values.encode(quality, forKey: .quality)
        }
    }

    let plan: [String]
    let steps: [String]
    /// Null if it was not fetched.
    let fetched: Fetched?
    /// Null if nothing was decoded.
    let decoded: Decoded?
    /// Null if nothing was encoded.
    let transformed: Transformed?
    private let source: String

    private enum CodingKeys: String, CodingKey {
        case plan, steps, fetched, decoded, transformed
    }

    init(_ explanation: Explanation, _ image: ImageResponse, _ provenance: ImageProvenance) {
        plan = explanation.plan
        steps = explanation.steps
        fetched = provenance.fetched.map { Fetched($0) }
        decoded = explanation.decoded.map { Decoded($0) }
        transformed = explanation.transformed.map {
            Transformed(
                lane: $0.isPlanar ? "planar" : "general", foldedSteps: Int($0.foldedSteps),
                format: image.info?.format.name, settings: explanation.settings,
                attempts: Int($0.attempts), quality: $0.quality.map { Int($0) })
        }
        let tier = provenance.cacheType
        let isProduced = explanation.decoded != nil
        source =
            tier == .none
            ? "the loader" : (isProduced ? "the cached original: " : "the cache: ") + tier.name
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(plan, forKey: .plan)
        try values.encode(steps, forKey: .steps)
        try values.encode(fetched, forKey: .fetched)
        try values.encode(decoded, forKey: .decoded)
        try values.encode(transformed, forKey: .transformed)
    }

    /// The explanation as human-readable lines.
    var lines: [String] {
        ["plan: " + plan.joined(separator: ", "), "from: " + source]
            + (fetched.map { ["fetched: " + $0.text] } ?? [])
            + steps.enumerated().map { index, step in
                let isFolded = index < transformed?.foldedSteps ?? 0
                return "step \(index + 1): \(step)" + (isFolded ? ", one sampling of planes" : "")
            }
            + [
                "decoded: " + (decoded?.text ?? "nothing"),
                "encoded: " + (transformed?.text ?? "nothing"),
            ]
    }
}

extension ExplanationAnswer.Fetched {
    init(_ account: FetchAccount) {
        (name, connect, tls) = (account.name, account.connect, account.tls)
        (firstByte, total) = (account.firstByte, account.total)
        bytes = Int(clamping: account.bytes)
        (httpVersion, address) = (account.httpVersion, account.address)
        isReused = account.isReused
        redirects = Int(account.redirects)
        continuations = Int(account.continuations)
    }

    fileprivate var text: String {
        let times = [("name", name), ("connect", connect), ("TLS", tls), ("first byte", firstByte)]
            .filter { $0.1 > 0 }.map { "\($0.0) \(Self.milliseconds($0.1))" }
        return
            ([
                "\(bytes) bytes in \(Self.milliseconds(total))", "HTTP/\(httpVersion)", address,
                isReused ? "reused connection" : "new connection",
            ] + times + [count(redirects, "redirect"), count(continuations, "continuation")])
            .filter { !$0.isEmpty }.joined(separator: ", ")
    }

    private func count(_ number: Int, _ what: String) -> String {
        number == 0 ? "" : "\(number) \(what)" + (number == 1 ? "" : "s")
    }

    /// Formats a duration such as `12.3 ms`.
    private static func milliseconds(_ value: Double) -> String {
        "\((value * 10).rounded() / 10) ms"
    }
}

extension ExplanationAnswer.Decoded {
    init(_ account: DecodeAccount) {
        format = account.format.name
        (width, height) = (account.size.width, account.size.height)
        (columns, rows) = (account.pixels.width, account.pixels.height)
        pixels = account.pixels.area ?? 0
        scale = account.scale
        layout = account.isPlanar ? "planes" : "interleaved"
    }

    fileprivate var text: String {
        let parts = 1 / scale
        let isPart = scale < 1 && parts.rounded() == parts
        return "\(format) \(width)x\(height) at \(isPart ? "1/\(Int(parts))" : "\(scale)"): "
            + "\(columns)x\(rows), \(pixels) pixels, \(layout)"
    }
}

extension ExplanationAnswer.Transformed {
    fileprivate var text: String {
        let texts = settings.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        let tries = attempts > 1 ? ["\(attempts) attempts"] : []
        let found = quality.map { ["quality \($0) for max-bytes"] } ?? []
        return (["\(lane) lane", format ?? ""] + texts + found + tries).joined(separator: ", ")
    }
}

/// The freshness of an image in `get --json` (SEMANTICS §15.3). Every member is always present.
struct FreshnessAnswer: Encodable, Sendable {
    /// Seconds since the origin generated its response, and seconds for which it is still fresh;
    /// null if unknown.
    let age: Int?
    let fresh: Int?
    let etag: String?
    let lastModified: String?
    /// The name of the error because of which a stale image was delivered; null otherwise.
    let staleFor: String?

    init(_ validity: Validity) {
        let now = WallClock.nanoseconds() / 1_000_000
        age = validity.expiry.map { Int($0.age(at: now)) }
        fresh = validity.expiry.map { Int($0.remaining(at: now)) }
        (etag, lastModified) = (validity.etag, validity.lastModified)
        staleFor = validity.originFailure?.code.rule.name
    }

    private enum CodingKeys: String, CodingKey {
        case age, fresh, etag, lastModified, staleFor
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(age, forKey: .age)
        try values.encode(fresh, forKey: .fresh)
        try values.encode(etag, forKey: .etag)
        try values.encode(lastModified, forKey: .lastModified)
        try values.encode(staleFor, forKey: .staleFor)
    }

    /// A human-readable line.
    var line: String {
        var parts: [String] = []
        if let age, let fresh { parts.append("\(age) s old, fresh for \(fresh) s") }
        if let etag { parts.append("ETag \(etag)") }
        if let lastModified { parts.append("Last-Modified \(lastModified)") }
        return "origin: " + (parts.isEmpty ? "unknown" : parts.joined(separator: ", "))
    }
}

/// The extended data of an image in `get --json` (SEMANTICS §15.3).
struct ExtendedDataAnswer: Encodable, Sendable {
    let mediaType: String
    /// The size in bytes.
    let length: Int
    let base64: String

    init(_ data: ExtendedData) {
        (mediaType, length) = (data.mediaType, data.bytes.count)
        base64 = Base64Text.text(data.bytes)
    }
}
