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
