import ImageModel
import StageContract

/// Encodes one image, again at lower qualities where it is to have only so many bytes.
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

    /// Leaves in the writer the best image that has few enough bytes; where none has, the smallest.
    func run(_ writer: BlockWriter<Space>) throws -> Outcome {
        let hasAlpha = try body(order, writer)
        guard losesSomething, let limit = order.options.maxBytes else {
            return Outcome(hasAlpha: hasAlpha, count: 1, quality: nil)
        }
        guard writer.bytes.count > limit else {
            return Outcome(hasAlpha: hasAlpha, count: 1, quality: order.quality)
        }
        var count = 1
        let first = (Array(writer.bytes), hasAlpha, order.quality)
        let best = try best(atMost: limit, after: first, writer, &count)
        writer.restart()
        guard best.bytes.withUnsafeBytes({ writer.append($0) }) else {
            throw ImageError(.internalError, "what had room before has none")
        }
        return Outcome(hasAlpha: best.hasAlpha, count: count, quality: best.quality)
    }

    private typealias Attempt = (bytes: [UInt8], hasAlpha: Bool, quality: Int)

    /// The best of those that fit, else the smallest. The first one and `QualitySearch` are
    /// `triesMax` attempts.
    private func best(
        atMost limit: Int, after first: Attempt, _ writer: BlockWriter<Space>, _ count: inout Int
    ) throws -> Attempt {
        var best: Attempt?
        var smallest = first
        var search = QualitySearch(below: order.quality)
        while let quality = search.next {
            if order.cancellation.isCancelled { throw ImageError.cancelled }
            writer.restart()
            count += 1
            let hasAlpha = try body(order.with(quality: quality), writer)
            let fits = writer.bytes.count <= limit
            let attempt = (Array(writer.bytes), hasAlpha, quality)
            if fits { best = attempt }
            if attempt.0.count < smallest.bytes.count { smallest = attempt }
            search.found(fits: fits)
        }
        return best ?? smallest
    }
}
