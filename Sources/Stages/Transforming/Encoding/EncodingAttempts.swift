import ImageModel
import StageContract

/// Encodes one image, again at lower qualities where it may have only so many bytes.
struct EncodingAttempts<Space: OutputSpace> {
    let order: EncodingOrder
    /// Whether quality says how large a file is.
    let losesSomething: Bool
    /// Writes the image; answers whether that has alpha.
    let body: (EncodingOrder, BlockWriter<Space>) throws -> Bool

    /// What became of the attempts.
    struct Outcome {
        let hasAlpha: Bool
        let count: Int
        /// That of the image, where a limit of bytes had it looked for.
        var quality: Int?
    }

    /// Leaves the best image in the writer. Throws `limitExceeded` where none has few enough bytes.
    func run(_ writer: BlockWriter<Space>) throws -> Outcome {
        let hasAlpha = try body(order, writer)
        guard let limit = order.options.maxBytes, writer.bytes.count > limit else {
            let isLooked = order.options.maxBytes != nil && losesSomething
            return Outcome(
                hasAlpha: hasAlpha, count: 1, quality: isLooked ? order.quality : nil)
        }
        var count = 1
        guard losesSomething, let best = try best(atMost: limit, writer, &count) else {
            throw tooLarge(writer.bytes.count, limit)
        }
        writer.restart()
        guard best.bytes.withUnsafeBytes({ writer.append($0) }) else {
            throw ImageError(.internalError, "what had room before has none")
        }
        return Outcome(hasAlpha: best.hasAlpha, count: count, quality: best.quality)
    }

    private typealias Attempt = (bytes: [UInt8], hasAlpha: Bool, quality: Int)

    /// The best of those that fit. The asked quality and `QualitySearch` are `triesMax` attempts.
    private func best(
        atMost limit: Int, _ writer: BlockWriter<Space>, _ count: inout Int
    ) throws -> Attempt? {
        var best: Attempt?
        var search = QualitySearch(below: order.quality)
        while let quality = search.next {
            if order.cancellation.isCancelled { throw ImageError.cancelled }
            writer.restart()
            count += 1
            let hasAlpha = try body(order.with(quality: quality), writer)
            let fits = writer.bytes.count <= limit
            if fits { best = (Array(writer.bytes), hasAlpha, quality) }
            search.found(fits: fits)
        }
        return best
    }

    private func tooLarge(_ count: Int, _ limit: Int) -> ImageError {
        let what = losesSomething ? "at the lowest quality" : "in a form that has no quality"
        return .over(
            OutputSetting.maxBytes.name, "encode",
            "the result has \(count) bytes \(what), and max-bytes permits \(limit): permit "
                + "more, or ask for fewer pixels"
                + (losesSomething
                    ? ", or for a lower alpha-quality where it has one"
                    : ", or for a format with a quality"))
    }
}
