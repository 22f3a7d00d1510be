import CommandLineInterface
import Imagebus
import Linux
import Model
import Reporting

/// The output of `get --json` (SEMANTICS §15.3). Every member is always present, and null if
/// unknown or not requested.
enum GetAnswer {
    /// Returns the answer that describes an image, or a miss or error without one. If the refresh
    /// or the output failed, `failure` makes the answer an error. `token` is `nil` if no request
    /// was sent.
    static func object(
        _ image: ImageResponse?, _ provenance: ImageProvenance, token: String?,
        request: ImageRequest, failure: JSONObject? = nil, partials: JSONObject? = nil
    ) -> JSONObject {
        let info = image?.info
        let found = image.flatMap { $0.isMiss ? nil : $0 }
        let status = failure != nil ? "error" : found == nil ? "miss" : "ok"
        let isRefreshed = request.options.contains(.refreshCached) ? image?.isRefreshed : nil
        let properties = image?.properties.map { PropertiesAnswer.object($0) }
        let explanation = image.flatMap { ExplanationAnswer($0, provenance)?.object }
        let freshness = image?.validity.map { FreshnessAnswer($0).object }
        let data = image?.extendedData.map { extendedData($0) }
        let fallbackFor = image?.fallbackFor.map { error($0) }
        let notes = image.map { ImageNotes.of($0, for: request) } ?? []
        return [
            "status": status, "cacheType": provenance.cacheType.name,
            "format": info?.format.name, "width": info?.size.width, "height": info?.size.height,
            "pages": info?.pages,
            // The number of frames of which a still of an animation is the first.
            "stillOf": info?.stillOf,
            // Bits per sample; 8 if there are fewer.
            "bits": info?.bits, "hdr": info?.isHDR,
            "damaged": found?.isDamaged,
            "facts": properties, "explanation": explanation, "freshness": freshness,
            "bytes": image?.bytes?.count, "digest": image?.digest?.reprDigest,
            "extendedData": data, "partials": partials,
            "key": image?.key, "scale": found?.scaleFactor, "token": token,
            "timings": milliseconds(provenance.timings),
            // Whether the image replaced a cached one.
            "refreshed": isRefreshed, "error": failure,
            // The error because of which the image is the fallback.
            "fallbackFor": fallbackFor, "notes": notes,
        ]
    }

    /// An error, as in the table of errors.
    static func error(_ failure: ImageError) -> JSONObject {
        [
            "domain": failure.domain, "code": failure.number, "name": failure.code.rule.name,
            "message": failure.message, "retryable": failure.retryable, "details": failure.details,
        ]
    }

    static func error(_ failure: OutputError) -> JSONObject {
        let details = ["path": failure.destination]
        return [
            "domain": "NSPOSIXErrorDomain", "code": failure.reason.rawValue,
            "name": OutputError.name, "message": failure.message, "retryable": false,
            "details": details,
        ]
    }

    private static func extendedData(_ data: ExtendedData) -> JSONObject {
        [
            "mediaType": data.mediaType, "length": data.bytes.count,
            "base64": Base64Text.text(data.bytes),
        ]
    }

    /// Returns the timings in milliseconds, rounded to microseconds.
    private static func milliseconds(_ timings: StageTimings) -> [String: Double] {
        var named: [String: Double] = [:]
        for part in StageTimings.parts {
            named[part.name] = (timings[keyPath: part.path] * 1000).rounded() / 1000
        }
        return named
    }
}

/// The image properties in `get`.
enum PropertiesAnswer {
    static func object(_ properties: ImageProperties) -> JSONObject {
        let exif = properties.exif.map { ($0.key.rawValue, $0.value) }
        return [
            "orientation": properties.orientation, "bitsPerSample": properties.bitsPerSample,
            "profile": properties.profile, "exif": Dictionary(uniqueKeysWithValues: exif),
            "average": text(properties.average), "dominant": text(properties.dominant),
            "blurHash": properties.blurHash, "thumbHash": properties.thumbHash,
            "animation": properties.animation.map(animation),
        ]
    }

    private static func animation(_ animation: AnimationProperties) -> JSONObject {
        [
            "frames": animation.durations.count,
            // Of each frame, in microseconds.
            "durations": animation.durations, "milliseconds": milliseconds(animation),
            // How often all frames are played; 0 means endless.
            "loops": animation.plays,
        ]
    }

    /// Returns the known properties as human-readable lines, `name: value`.
    static func lines(_ properties: ImageProperties) -> [String] {
        let animation = properties.animation
        let header: [(String, String?)] = [
            ("orientation", properties.orientation.map { "\($0)" }),
            ("bitsPerSample", properties.bitsPerSample.map { "\($0)" }),
            ("profile", properties.profile),
        ]
        let fields = ExifField.allCases.map { ($0.rawValue, properties.exif[$0]) }
        let others: [(String, String?)] = [
            ("average", text(properties.average)), ("dominant", text(properties.dominant)),
            ("blurHash", properties.blurHash), ("thumbHash", properties.thumbHash),
            ("frames", animation.map { "\($0.durations.count)" }),
            ("milliseconds", animation.map { "\(milliseconds($0))" }),
            ("loops", animation.map { $0.plays == 0 ? "forever" : "\($0.plays)" }),
        ]
        return (header + fields + others).compactMap { name, value in
            value.map { "\(name): \($0)" }
        }
    }

    /// In the form `#AARRGGBB`.
    private static func text(_ color: Color?) -> String? { color.map { "#\($0)" } }

    private static func milliseconds(_ animation: AnimationProperties) -> Int {
        animation.durations.reduce(0) { $0 + Int($1) } / 1_000
    }
}

/// How an image was produced, in `get --explain`.
struct ExplanationAnswer {
    private let explanation: Explanation
    private let provenance: ImageProvenance
    /// The format of the image.
    private let format: String?

    /// Returns `nil` if no explanation was requested.
    init?(_ image: ImageResponse, _ provenance: ImageProvenance) {
        guard let explanation = image.explanation else { return nil }
        (self.explanation, self.provenance) = (explanation, provenance)
        format = image.info?.format.name
    }

    /// Members are null for what was not fetched, decoded or encoded.
    var object: JSONObject {
        [
            "plan": explanation.plan, "steps": explanation.steps,
            "fetched": provenance.fetched.map(fetched),
            "decoded": explanation.decoded.map(decoded),
            "transformed": explanation.transformed.map(transformed),
        ]
    }

    /// Times are in milliseconds.
    private func fetched(_ account: FetchAccount) -> JSONObject {
        [
            "name": account.name, "connect": account.connect, "tls": account.tls,
            "firstByte": account.firstByte, "total": account.total,
            "bytes": Int(clamping: account.bytes), "httpVersion": account.httpVersion,
            "address": account.address, "isReused": account.isReused,
            "redirects": account.redirects, "continuations": account.continuations,
        ]
    }

    private func decoded(_ account: DecodeAccount) -> JSONObject {
        [
            "format": account.format.name, "width": account.size.width,
            "height": account.size.height, "columns": account.pixels.width,
            "rows": account.pixels.height, "pixels": account.pixels.area ?? 0,
            "scale": account.scale, "layout": layout(account),
        ]
    }

    private func transformed(_ account: TransformAccount) -> JSONObject {
        [
            "lane": lane(account), "foldedSteps": account.foldedSteps, "format": format,
            "settings": explanation.settings, "attempts": account.attempts,
            // Null unless it was determined by a limit on the size in bytes.
            "quality": account.quality,
        ]
    }

    private func layout(_ account: DecodeAccount) -> String {
        account.isPlanar ? "planes" : "interleaved"
    }

    private func lane(_ account: TransformAccount) -> String {
        account.isPlanar ? "planar" : "general"
    }

    /// The explanation as human-readable lines.
    var lines: [String] {
        let folded = Int(explanation.transformed?.foldedSteps ?? 0)
        let steps = explanation.steps.enumerated().map { index, step in
            "step \(index + 1): \(step)" + (index < folded ? ", one sampling of planes" : "")
        }
        let fetched = provenance.fetched.map { ["fetched: \(text($0))"] } ?? []
        let decoded = explanation.decoded.map { text($0) } ?? "nothing"
        let encoded = explanation.transformed.map { text($0) } ?? "nothing"
        return ["plan: \(explanation.plan.joined(separator: ", "))", "from: \(source)"]
            + fetched + steps + ["decoded: \(decoded)", "encoded: \(encoded)"]
    }

    private var source: String {
        guard provenance.cacheType != .none else { return "the loader" }
        let cache = explanation.decoded == nil ? "the cache: " : "the cached original: "
        return cache + provenance.cacheType.name
    }

    private func text(_ account: FetchAccount) -> String {
        let times = [
            ("name", account.name), ("connect", account.connect), ("TLS", account.tls),
            ("first byte", account.firstByte),
        ].filter { $0.1 > 0 }.map { "\($0.0) \(milliseconds($0.1))" }
        let parts = [
            "\(account.bytes) bytes in \(milliseconds(account.total))",
            "HTTP/\(account.httpVersion)", account.address,
            account.isReused ? "reused connection" : "new connection",
        ]
        let counts = [
            count(account.redirects, "redirect"), count(account.continuations, "continuation"),
        ]
        return (parts + times + counts).filter { !$0.isEmpty }.joined(separator: ", ")
    }

    private func count(_ number: UInt32, _ what: String) -> String {
        number == 0 ? "" : "\(number) \(what)" + (number == 1 ? "" : "s")
    }

    /// Formats a duration such as `12.3 ms`.
    private func milliseconds(_ value: Double) -> String { "\((value * 10).rounded() / 10) ms" }

    private func text(_ account: DecodeAccount) -> String {
        let parts = 1 / account.scale
        let isPart = account.scale < 1 && parts.rounded() == parts
        return "\(account.format.name) \(account.size) at "
            + "\(isPart ? "1/\(Int(parts))" : "\(account.scale)"): \(account.pixels), "
            + "\(account.pixels.area ?? 0) pixels, \(layout(account))"
    }

    private func text(_ account: TransformAccount) -> String {
        let settings = explanation.settings.sorted { $0.key < $1.key }
            .map { "\($0.key)=\($0.value)" }
        let tries = account.attempts > 1 ? ["\(account.attempts) attempts"] : []
        let found = account.quality.map { ["quality \($0) for max-bytes"] } ?? []
        return (["\(lane(account)) lane", format ?? ""] + settings + found + tries)
            .joined(separator: ", ")
    }
}

/// The freshness of an image in `get`.
struct FreshnessAnswer {
    private let validity: Validity
    /// Seconds since the origin generated its response, and seconds for which it is still fresh;
    /// `nil` if unknown.
    private let age, fresh: Int64?

    init(_ validity: Validity) {
        let now = WallClock.nanoseconds() / 1_000_000
        self.validity = validity
        age = validity.expiry.map { $0.age(at: now) }
        fresh = validity.expiry.map { $0.remaining(at: now) }
    }

    var object: JSONObject {
        [
            "age": age, "fresh": fresh, "etag": validity.etag,
            "lastModified": validity.lastModified,
            // The name of the error because of which a stale image was delivered.
            "staleFor": validity.originFailure?.code.rule.name,
        ]
    }

    /// A human-readable line.
    var line: String {
        var parts: [String] = []
        if let age, let fresh { parts.append("\(age) s old, fresh for \(fresh) s") }
        if let etag = validity.etag { parts.append("ETag \(etag)") }
        if let date = validity.lastModified { parts.append("Last-Modified \(date)") }
        return "origin: " + (parts.isEmpty ? "unknown" : parts.joined(separator: ", "))
    }
}
