import Model

extension JobWork {
    /// The cost of the job in the unit of its stage, at least 1. Fair queueing, queue limits and
    /// drain rates use it.
    ///
    /// A fetch, a query or an entry operation costs 1. A store costs 1 per 4 KiB, a decode the
    /// bytes of the encoded source. A transform costs the pixels it reads (doubled for 16-bit
    /// samples) or the pixels of its largest intermediate image, whichever is greater, multiplied
    /// by the encoder's class.
    var cost: UInt64 {
        switch self {
        case .fetch, .query, .entry: 1
        case .store(let work): max(1, (work.source.length &+ 4_095) / 4_096)
        case .decode(let work): max(1, work.source.length)
        case .transform(let work): max(1, work.readPixels, work.producedPixels) * work.encodingCost
        case .paint(let work): work.size.pixels * work.encodingCost
        }
    }
}

extension TransformWork {
    fileprivate var readPixels: UInt64 {
        ([layout] + overlays.map(\.layout)).reduce(0) { sum, layout in
            sum
                &+ UInt64(clamping: layout.planes.first?.size.area ?? 1)
                &* UInt64(layout.samples.bytes) &* UInt64(layout.frames)
        }
    }

    /// The pixels of the largest image that a step produces. Steps before the first resize or
    /// enlargement only crop or rotate the input, which may be smaller than the original.
    fileprivate var producedPixels: UInt64 {
        var (size, most, isResized) = (sourceInfo.size, UInt64(1), false)
        for step in steps {
            guard let next = step.size(after: size) else { break }
            if next.pixels > size.pixels { isResized = true }
            if step.isResize { isResized = true }
            size = next
            if isResized { most = max(most, size.pixels) }
        }
        return most &* producedFrames
    }

    fileprivate var encodingCost: UInt64 {
        resultFormat(hasAlpha: false).traits.encodingCost(output)
    }

    /// The number of frames to encode.
    private var producedFrames: UInt64 { UInt64(framesMax(in: resultFormat(hasAlpha: false))) }

    /// Returns the work restricted to the first accepted format that can hold the result and is
    /// fast enough to encode; no format remains if none qualifies.
    func accepting(atMost costMax: UInt64) -> TransformWork {
        var work = self
        for format in acceptedInOrder where output.format == nil {
            work.output.accepted = [format]
            let isTaken = work.resultFormat(hasAlpha: true) == format
            if isTaken, work.refusal(atMost: costMax) == nil { return work }
        }
        work.output.accepted = []
        return work
    }

    /// The accepted formats in order of preference; for animations, formats that hold frames come
    /// first.
    private var acceptedInOrder: [ImageFormat] {
        guard layout.animation != nil else { return output.accepted }
        return output.accepted.filter(\.holdsFrames) + output.accepted.filter { !$0.holdsFrames }
    }

    /// Returns an error if encoding the result would occupy a transformer for too long.
    func refusal(atMost costMax: UInt64) -> ImageError? {
        resultSize.flatMap {
            output.refusal(of: $0, encodingCost, frames: producedFrames, atMost: costMax)
        }
    }
}

extension PaintWork {
    fileprivate var encodingCost: UInt64 { resultFormat.traits.encodingCost(output) }

    /// Restricts a solid-color image to the first accepted format that is fast enough to encode; no
    /// format remains if none qualifies.
    func accepting(atMost costMax: UInt64) -> PaintWork {
        var work = self
        for format in output.accepted where output.format == nil {
            work.output.accepted = [format]
            if work.resultFormat == format, work.refusal(atMost: costMax) == nil { return work }
        }
        work.output.accepted = []
        return work
    }

    /// Returns an error if encoding the solid-color image would take too long.
    func refusal(atMost costMax: UInt64) -> ImageError? {
        output.refusal(of: size, encodingCost, atMost: costMax)
    }
}

extension ImageRequest {
    /// Throws if the result would be refused, as far as that can be determined without the source.
    func checkEncoding(atMost costMax: UInt64) throws(ImageError) {
        guard let format = output.format, let size = certainSize else { return }
        let encodingCost = format.traits.encodingCost(output)
        if let error = output.refusal(of: size, encodingCost, atMost: costMax) { throw error }
    }

    /// The size of the result if a step determines it independently of the source.
    private var certainSize: PixelSize? {
        var size: PixelSize?
        for step in allSteps {
            if let certain = (step.form as? ResizeStep)?.certainSize {
                size = certain
            } else {
                size = size.flatMap { step.size(after: $0) }
            }
        }
        return size
    }
}

extension OutputOptions {
    fileprivate func refusal(
        of size: PixelSize, _ encodingCost: UInt64, frames: UInt64 = 1, atMost costMax: UInt64
    ) -> ImageError? {
        let limit = costMax / encodingCost / frames
        guard size.pixels > limit else { return nil }
        let all = frames == 1 ? "" : " in \(frames) frames"
        let remedies = [
            "reduce the size", isWithoutLoss ? "use lossy compression" : nil,
            effort == nil ? nil : "reduce the effort", maxBytes == nil ? nil : "omit max-bytes",
        ].compactMap(\.self)
        return ImageError(
            .limitExceeded,
            "a result of \(size.width)×\(size.height)\(all) takes too long to encode: this format "
                + "accepts at most \(limit) pixels; "
                + remedies.joined(separator: ", or ")
        ) { $0.limit = "\(limit)" }
    }
}

extension PixelSize {
    /// The number of pixels, at least one; no image has more than 2³².
    fileprivate var pixels: UInt64 { UInt64(min(max(1, area ?? .max), Int(UInt32.max))) }
}

/// The waiting work of a stage and its drain rate, both in the stage's unit of cost.
struct StageLoad: Sendable {
    /// Jobs that wait for a worker or for space, and their total cost.
    private(set) var jobs = 0
    private(set) var backlog: UInt64 = 0
    /// Cost of finished jobs per second, as an exponential moving average over the time during
    /// which jobs waited; `nil` before the first measurement.
    private(set) var drainRate: Double?
    private var finished: UInt64 = 0
    private var since: Instant?

    /// The time constant of the average, in seconds.
    private static let memory = 5.0
    /// The minimum interval between two measurements, in seconds.
    private static let interval = 0.25

    mutating func enter(_ job: ActiveJob) {
        jobs += 1
        backlog += job.spec.cost
    }

    mutating func leave(_ job: ActiveJob) {
        jobs -= 1
        backlog -= job.spec.cost
    }

    /// Records a job that a worker finished, successfully or not. While no job waits, the rate
    /// reflects demand rather than capacity and is not measured.
    mutating func finished(_ cost: UInt64, at now: Instant) {
        guard jobs > 0, let since else {
            (finished, since) = (0, jobs > 0 ? now : nil)
            return
        }
        finished += cost
        let seconds = now.fractionalMilliseconds(since: since) / 1_000
        guard seconds >= Self.interval else { return }
        let rate = Double(finished) / seconds
        let weight = seconds / (seconds + Self.memory)
        drainRate = drainRate.map { $0 + (rate - $0) * weight } ?? rate
        (finished, self.since) = (0, now)
    }

    /// Seconds until the backlog is down to `bound`; `nil` if the drain rate is unknown.
    func seconds(untilBelow bound: UInt64) -> Double? {
        guard let drainRate, drainRate > 0 else { return nil }
        return backlog > bound ? Double(backlog - bound) / drainRate : 0
    }
}
