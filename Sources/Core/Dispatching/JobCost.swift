package import ImageModel
package import Messages

extension JobWork {
    /// What a job costs, in the unit of its stage: fairness between flows, the bounds of queues and
    /// the drain rate count in it. At least 1.
    ///
    /// A fetch, a query and a question about an entry are 1; a store counts units of 4 KiB, a
    /// decode the bytes of the encoded source, a transform the pixels that it reads (one of
    /// 16 bits is two), or those of the largest image that it makes, times how slow its encoder is.
    var cost: UInt64 {
        switch self {
        case .fetch, .query, .entry: 1
        case .store(let work): max(1, work.source.length.dividedRoundingUp(by: 4_096))
        case .decode(let work): max(1, work.source.length)
        case .transform(let work): max(1, work.readPixels, work.madePixels) * work.encoderClass
        case .paint(let work): work.size.pixels * work.encoderClass
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

    /// Of the largest image that a step makes. Until one resizes or adds they only cut and turn
    /// what is read, which may be smaller than the source was.
    fileprivate var madePixels: UInt64 {
        var (size, most, isResized) = (sourceInfo.size, UInt64(1), false)
        for step in steps {
            guard let next = step.size(after: size) else { break }
            if next.pixels > size.pixels { isResized = true }
            if step.isResize { isResized = true }
            size = next
            if isResized { most = max(most, size.pixels) }
        }
        return most &* madeFrames
    }

    fileprivate var encoderClass: UInt64 {
        resultFormat(hasAlpha: false).traits.encoderClass(output)
    }

    /// Frames that are encoded.
    private var madeFrames: UInt64 { UInt64(framesMax(in: resultFormat(hasAlpha: false))) }

    /// The same, in which of the formats that are accepted only the first one is left that has room
    /// for the result and is encoded in time; none where there is no such format.
    package func accepting(atMost costMax: UInt64) -> TransformWork {
        var work = self
        for format in acceptedInOrder where output.format == nil {
            work.output.accepted = [format]
            let isTaken = work.resultFormat(hasAlpha: true) == format
            if isTaken, work.refusal(atMost: costMax) == nil { return work }
        }
        work.output.accepted = []
        return work
    }

    /// Of frames, those first that hold them.
    private var acceptedInOrder: [ImageFormat] {
        guard layout.animation != nil else { return output.accepted }
        return output.accepted.filter(\.holdsFrames) + output.accepted.filter { !$0.holdsFrames }
    }

    /// Why its result is not encoded, which would keep a transformer for too long.
    package func refusal(atMost costMax: UInt64) -> ImageError? {
        resultSize.flatMap {
            output.refusal(of: $0, encoderClass, frames: madeFrames, atMost: costMax)
        }
    }
}

extension PaintWork {
    fileprivate var encoderClass: UInt64 { resultFormat.traits.encoderClass(output) }

    /// The same of an image of one colour.
    package func accepting(atMost costMax: UInt64) -> PaintWork {
        var work = self
        for format in output.accepted where output.format == nil {
            work.output.accepted = [format]
            if work.resultFormat == format, work.refusal(atMost: costMax) == nil { return work }
        }
        work.output.accepted = []
        return work
    }

    /// The same of an image of one colour.
    package func refusal(atMost costMax: UInt64) -> ImageError? {
        output.refusal(of: size, encoderClass, atMost: costMax)
    }
}

extension ImageRequest {
    /// Throws what its result would be refused for, as far as that is known without its source.
    package func checkEncoding(atMost costMax: UInt64) throws(ImageError) {
        guard let format = output.format, let size = certainSize else { return }
        let encoderClass = format.traits.encoderClass(output)
        if let error = output.refusal(of: size, encoderClass, atMost: costMax) { throw error }
    }

    /// Of the result, where a step makes the same of every source.
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
        of size: PixelSize, _ encoderClass: UInt64, frames: UInt64 = 1, atMost costMax: UInt64
    ) -> ImageError? {
        let limit = costMax / encoderClass / frames
        guard size.pixels > limit else { return nil }
        let all = frames == 1 ? "" : " in \(frames) frames"
        let remedies = [
            "ask for fewer", isWithoutLoss ? "for loss" : nil,
            effort == nil ? nil : "for less effort", maxBytes == nil ? nil : "for any bytes",
        ].compactMap(\.self)
        return ImageError(
            .limitExceeded,
            "a result of \(size.width)×\(size.height)\(all) takes too long to encode: at most "
                + "\(limit) pixels are accepted in this format, so "
                + remedies.joined(separator: ", or "),
            details: ["limit": "\(limit)"])
    }
}

extension PixelSize {
    /// At least one; no image has more than 2³².
    fileprivate var pixels: UInt64 { UInt64(min(max(1, area ?? .max), Int(UInt32.max))) }
}

extension UInt64 {
    fileprivate func dividedRoundingUp(by divisor: UInt64) -> UInt64 {
        self / divisor + (self % divisor == 0 ? 0 : 1)
    }
}

/// What waits in one stage and how fast it becomes less, both in the stage's unit of cost.
struct StageLoad: Sendable {
    /// Jobs that wait for a worker or for space, and what they cost together.
    private(set) var jobs = 0
    private(set) var backlog: UInt64 = 0
    /// Cost of finished jobs per second, an exponential average over the time in which jobs
    /// waited; `nil` before there is one.
    private(set) var drainRate: Double?
    private var finished: UInt64 = 0
    private var since: Instant?

    /// The average follows a change within that many seconds.
    private static let memory = 5.0
    /// Seconds between two looks.
    private static let interval = 0.25

    mutating func enter(_ job: ActiveJob) {
        jobs += 1
        backlog += job.spec.cost
    }

    mutating func leave(_ job: ActiveJob) {
        jobs -= 1
        backlog -= job.spec.cost
    }

    /// A worker finished a job, well or not. While nothing waits, the rate is that of those who
    /// ask, and says nothing.
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

    /// Seconds until no more than `bound` waits; `nil` where the drain rate is not known.
    func seconds(untilBelow bound: UInt64) -> Double? {
        guard let drainRate, drainRate > 0 else { return nil }
        return backlog > bound ? Double(backlog - bound) / drainRate : 0
    }
}
