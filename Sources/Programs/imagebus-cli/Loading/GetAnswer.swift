import CommandLineInterface
import ImageModel
import Imagebus
import Linux
import Messages
import StackAccess

/// What `get --json` prints (SEMANTICS §15.3); every name is always there, null where nothing is
/// known.
struct GetAnswer: Encodable, Sendable {
    /// How a request ended.
    enum Status: String, Encodable {
        case ok
        case miss
        case error
    }

    /// A failure, as in the table of errors.
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
    /// Of how many frames the image is the first one; null where it is no still.
    let stillOf: Int?
    /// Bits of a sample, 8 where it has fewer.
    let bits: Int?
    /// Whether its colours are of a high dynamic range.
    let hdr: Bool?
    /// Whether the source is damaged and pixels are missing.
    let damaged: Bool?
    /// What `--facts` asked for; null without it.
    let facts: FactsAnswer?
    /// What `--explain` asked for; null without it.
    let explanation: ExplanationAnswer?
    /// What `--explain` and `--respect-cache-control` ask for; null without them.
    let freshness: FreshnessAnswer?
    let bytes: Int?
    /// Of the bytes, as `Repr-Digest` says it; null where it is not known.
    let digest: String?
    /// What `--extended-data` asked for; null without it, and where there is none.
    let extendedData: ExtendedDataAnswer?
    /// What `--partials` wrote before the end; null without it.
    let partials: PartialFiles.Account?
    let key: String?
    let scale: Double?
    let token: String?
    let timings: [String: Double]
    /// Under `refresh-cached`: whether the image took the place of a cached one.
    let refreshed: Bool?
    let error: Failure?
    /// Why the image is the fallback.
    let fallbackFor: Failure?
    /// What else there is to know of the image.
    let notes: [String]

    private enum CodingKeys: String, CodingKey {
        case status, cacheType, format, width, height, pages, stillOf, bits, hdr, damaged, facts
        case explanation, freshness, bytes, digest, extendedData, partials, key, scale, token
        case timings, refreshed, error, fallbackFor, notes
    }

    /// An image, or a miss; with the failure of its refresh or its output, which makes it an error.
    init(
        _ image: ImageResponse, token: String, request: ImageRequest, failure: Failure? = nil,
        partials: PartialFiles.Account? = nil
    ) {
        self.partials = partials
        status = failure != nil ? .error : image.isMiss ? .miss : .ok
        cacheType = image.cacheType.name
        format = image.info?.format.name
        width = image.info?.size.width
        height = image.info?.size.height
        pages = image.info?.pages
        stillOf = image.info?.stillOf
        (bits, hdr) = (image.info?.bits, image.info?.isHDR)
        damaged = image.isMiss ? nil : image.isDamaged
        facts = image.facts.map { FactsAnswer($0) }
        explanation = image.explanation.map { ExplanationAnswer($0, image) }
        freshness = image.validity.map { FreshnessAnswer($0) }
        bytes = image.bytes?.count
        digest = image.digest?.reprDigest
        extendedData = image.extendedData.map { ExtendedDataAnswer($0) }
        key = image.key
        scale = image.isMiss ? nil : image.scaleFactor
        self.token = token
        timings = Self.milliseconds(image.timings)
        refreshed = request.options.contains(.refreshCached) ? image.isRefreshed : nil
        error = failure
        fallbackFor = image.fallbackFor.map { Failure($0) }
        notes = ImageNotes.of(image, for: request)
    }

    /// A failure; no token where it did not come to a request.
    init(_ failure: ImageError, token: String?, totalMilliseconds: Double) {
        self.init(Failure(failure), token: token, totalMilliseconds: totalMilliseconds)
    }

    /// The same, whoever failed.
    init(_ failure: Failure, token: String? = nil, totalMilliseconds: Double = 0) {
        status = .error
        cacheType = CacheTypes.none.name
        (format, width, height, pages, bytes) = (nil, nil, nil, nil, nil)
        (stillOf, facts, explanation, freshness) = (nil, nil, nil, nil)
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
        try values.encode(facts, forKey: .facts)
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

    /// To a microsecond.
    private static func milliseconds(_ timings: StageTimings) -> [String: Double] {
        let named = [
            "queue": timings.queue, "query": timings.query, "fetch": timings.fetch,
            "decode": timings.decode, "transform": timings.transform, "store": timings.store,
            "total": timings.total,
        ]
        return named.mapValues { ($0 * 1000).rounded() / 1000 }
    }
}

/// The facts in `get --json` (SEMANTICS §15.3); every name is always there, null where nothing is
/// known or was asked for.
struct FactsAnswer: Encodable, Sendable {
    let orientation: Int?
    let bitsPerSample: Int?
    let profile: String?
    /// By name, those that the source has.
    let exif: [String: String]
    /// `#AARRGGBB`.
    let average: String?
    let dominant: String?
    let blurHash: String?
    let thumbHash: String?
    let animation: Animation?

    /// Of an animation.
    struct Animation: Encodable, Sendable {
        let frames: Int
        /// Microseconds of each frame.
        let durations: [UInt32]
        /// Of all frames.
        let milliseconds: Int
        /// How often all are played; 0: without end.
        let loops: Int

        init(_ facts: AnimationFacts) {
            (frames, durations, loops) = (facts.durations.count, facts.durations, facts.plays)
            milliseconds = durations.reduce(0) { $0 + Int($1) } / 1_000
        }
    }

    private enum CodingKeys: String, CodingKey {
        case orientation, bitsPerSample, profile, exif, average, dominant, blurHash, thumbHash
        case animation
    }

    init(_ facts: ImageFacts) {
        orientation = facts.orientation
        bitsPerSample = facts.bitsPerSample
        profile = facts.profile
        exif = Dictionary(uniqueKeysWithValues: facts.exif.map { ($0.key.rawValue, $0.value) })
        average = facts.average.map { "#\($0)" }
        dominant = facts.dominant.map { "#\($0)" }
        blurHash = facts.blurHash
        thumbHash = facts.thumbHash
        animation = facts.animation.map { Animation($0) }
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

    /// For people, `name: value`, of what is known.
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
            ("loops", animation.map { $0.loops == 0 ? "without end" : "\($0.loops)" }),
        ]
        return (header + fields + pixels + frames).compactMap { name, value in
            value.map { "\(name): \($0)" }
        }
    }
}

/// How an image came about, in `get --explain --json` (SEMANTICS §15.3); every name is always
/// there.
struct ExplanationAnswer: Encodable, Sendable {
    /// How the source came; milliseconds.
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

    /// How it was encoded.
    struct Transformed: Encodable {
        let lane: String
        let foldedSteps: Int
        let format: String?
        let settings: [String: String]
        let attempts: Int
        /// Null where no limit of bytes had it looked for.
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
    /// Null where it was not fetched.
    let fetched: Fetched?
    /// Null where nothing was decoded.
    let decoded: Decoded?
    /// Null where nothing was encoded.
    let transformed: Transformed?
    private let source: String

    private enum CodingKeys: String, CodingKey {
        case plan, steps, fetched, decoded, transformed
    }

    init(_ explanation: Explanation, _ image: ImageResponse) {
        plan = explanation.plan
        steps = explanation.steps
        fetched = explanation.fetched.map { Fetched($0) }
        decoded = explanation.decoded.map { Decoded($0) }
        transformed = explanation.transformed.map {
            Transformed(
                lane: $0.isPlanar ? "planar" : "general", foldedSteps: Int($0.foldedSteps),
                format: image.info?.format.name, settings: explanation.settings,
                attempts: Int($0.attempts), quality: $0.quality.map { Int($0) })
        }
        let tier = image.cacheType
        let isMade = explanation.decoded != nil
        source =
            tier == .none
            ? "the loader" : (isMade ? "the cached original: " : "the cache: ") + tier.name
    }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(plan, forKey: .plan)
        try values.encode(steps, forKey: .steps)
        try values.encode(fetched, forKey: .fetched)
        try values.encode(decoded, forKey: .decoded)
        try values.encode(transformed, forKey: .transformed)
    }

    /// For people.
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
                isReused ? "connection of before" : "new connection",
            ] + times + [count(redirects, "redirect"), count(continuations, "continuation")])
            .filter { !$0.isEmpty }.joined(separator: ", ")
    }

    private func count(_ number: Int, _ what: String) -> String {
        number == 0 ? "" : "\(number) \(what)" + (number == 1 ? "" : "s")
    }

    /// With a tenth: `12.3 ms`.
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
        let told = settings.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        let tries = attempts > 1 ? ["\(attempts) attempts"] : []
        let found = quality.map { ["quality \($0) for max-bytes"] } ?? []
        return (["\(lane) lane", format ?? ""] + told + found + tries).joined(separator: ", ")
    }
}

/// How fresh an image is, in `get --json` (SEMANTICS §15.3); every name is always there.
struct FreshnessAnswer: Encodable, Sendable {
    /// Whole seconds since the origin made its answer, and those for which it is still fresh; null
    /// where that is not known.
    let age: Int?
    let fresh: Int?
    let etag: String?
    let lastModified: String?
    /// The name of the error for which a stale image was delivered; null for no such reason.
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

    /// For people, without the ends of lines.
    var line: String {
        var parts: [String] = []
        if let age, let fresh { parts.append("\(age) s old, fresh for \(fresh) s") }
        if let etag { parts.append("ETag \(etag)") }
        if let lastModified { parts.append("Last-Modified \(lastModified)") }
        return "origin: " + (parts.isEmpty ? "nothing known" : parts.joined(separator: ", "))
    }
}

/// The bytes that were put beside an image, in `get --json` (SEMANTICS §15.3).
struct ExtendedDataAnswer: Encodable, Sendable {
    let mediaType: String
    /// Bytes.
    let length: Int
    let base64: String

    init(_ data: ExtendedData) {
        (mediaType, length) = (data.mediaType, data.bytes.count)
        base64 = Base64Text.text(data.bytes)
    }
}
