import ImageModel
import Messages

/// One kind of work that is cancelled in its middle.
struct CancelPhase: Hashable, Sendable {
    /// What is loaded.
    enum Source: Hashable, Sendable {
        /// A transfer that never ends.
        case stalled
        /// 18 megapixels, baseline.
        case jpeg
        /// 6 megapixels.
        case smallJPEG
        /// 6 megapixels.
        case png
        /// 18 megapixels, progressive, of which two thirds arrive: what is here first is decoded.
        case arriving
    }

    /// For people, and a name in JSON.
    let work: String
    /// As the coordinator's report names it.
    let stage: String
    let source: Source
    let steps: [TransformStep]
    let output: OutputOptions
    /// What p99 is held against.
    let targetMilliseconds: Double
    /// Native code does not heed a cancel here: after each, a new process is waited for.
    let isHard: Bool

    private init(
        _ work: String, _ stage: String, _ source: Source, _ steps: [TransformStep] = [],
        _ format: ImageFormat = .jpeg, target: Double, isHard: Bool = false
    ) {
        (self.work, self.stage, self.source, self.steps) = (work, stage, source, steps)
        (output, targetMilliseconds, self.isHard) = (OutputOptions(format: format), target, isHard)
    }

    /// A flip needs all pixels and costs nothing else. The large box makes the transform long
    /// beside the decode before it.
    private static let flip = TransformStep.flip(horizontal: true, vertical: false)
    private static let enlarge = TransformStep.resize(
        PixelSize(width: 4_000, height: 4_000), .fill)

    /// All of them, with the command's own images.
    static let all = [
        CancelPhase("download", "fetch", .stalled, target: 5),
        CancelPhase("decode JPEG", "decode", .jpeg, [flip], target: 20),
        CancelPhase("decode PNG", "decode", .png, [flip], target: 20),
        CancelPhase("decode what has arrived", "decode", .arriving, [flip], target: 20),
        CancelPhase("resize and JPEG", "transform", .smallJPEG, [flip, enlarge], target: 20),
        CancelPhase("encode PNG", "transform", .smallJPEG, [flip], .png, target: 80),
        CancelPhase(
            "encode WebP", "transform", .smallJPEG, [flip], .webp, target: 600, isHard: true),
    ]

    /// Those for an image of somebody else, whatever its format is.
    static let foreign = [
        CancelPhase("download", "fetch", .jpeg, target: 5),
        CancelPhase("decode", "decode", .jpeg, [flip], target: 20),
        CancelPhase("resize and JPEG", "transform", .jpeg, [flip, enlarge], target: 20),
        CancelPhase("encode PNG", "transform", .jpeg, [flip], .png, target: 80),
        CancelPhase("encode WebP", "transform", .jpeg, [flip], .webp, target: 600, isHard: true),
    ]

    /// A load of this work that asks no cache and is kept in none.
    func request(url: String) -> ImageRequest {
        var request = ImageRequest(url: url)
        request.steps = steps
        request.output = output
        if source == .arriving { request.options.insert(.progressiveLoad) }
        return request.unkept
    }

    /// From when to when after its beginning a load is in the stage, in milliseconds, by the
    /// timings of one that came to its end: counted from there, since what lies between stages is
    /// in the total alone.
    func window(_ timings: StageTimings) -> ClosedRange<Double> {
        var end = timings.total - timings.store
        var length = timings.transform
        if stage != "transform" { (end, length) = (end - timings.transform, timings.decode) }
        if stage == "fetch" { (end, length) = (end - timings.decode, timings.fetch) }
        return max(0, end - length)...max(0, end)
    }
}
