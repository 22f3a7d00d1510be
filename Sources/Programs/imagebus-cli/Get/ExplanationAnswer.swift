import Imagebus

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
