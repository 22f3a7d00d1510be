import Imagebus
import Linux
import Model
import Reporting
import Synchronization

extension Bench {
    /// Loads uncached images from their origin, through all stages, without storing them.
    func measureCold() async throws(ImageError) -> BenchReport {
        var request = options.request.unkept
        request.url = try await url(orImage: "cold.jpg", width: 2_725, height: 2_225)
        if options.url == nil, !options.isRequestChosen { request.choosePreview() }
        let each = request
        // A single failing load reports its error; failures of many would only be counted.
        let first = try await client.load(each.numbered(next())).response
        let stages = Mutex(StageMetrics())
        let load: LoadFlight.Load = { [self] in
            guard let image = try? await client.load(each.numbered(next())).response,
                image.cacheType == .none, let count = image.bytes?.count
            else { return nil }
            stages.withLock { $0.record(image.timings) }
            return count
        }
        // A warm-up.
        _ = await LoadFlight(self, seconds: 0.5).run(load)
        stages.withLock { $0 = StageMetrics() }
        var report = try await report("cold", concurrency: options.concurrency) {
            await LoadFlight(self).run(load)
        }
        report["bytes_each"] = first.bytes?.count ?? 0
        report["timings_ms"] = stages.withLock { $0.medians }
        return report
    }

    /// Performs a typical workload: mostly hits, some uncached images, other sizes of known images,
    /// and canceled loads.
    func measureMix() async throws(ImageError) -> BenchReport {
        let url = try await url(orImage: "mixed.jpg", width: 1_362, height: 1_112)
        for number in 0..<MixedLoad.known {
            let request = MixedLoad.request(url, number, side: MixedLoad.commonSide)
            _ = try await client.load(request).response
        }
        let begun = Atomic(0)
        let shares = Mutex<[MixedLoad.Work: LoadMetrics]>([:])
        let perform: LoadFlight.Load = { [self] in
            let number = begun.add(1, ordering: .relaxed).newValue
            if number >= options.requestsMax { stop() }
            let load = MixedLoad(number: number)
            let start = MonotonicClock.now()
            let bytes = await load.end(self, url)
            let nanoseconds = MonotonicClock.now() - start
            shares.withLock {
                $0[load.work, default: LoadMetrics()].count(
                    nanoseconds: nanoseconds, bytes: bytes, slice: 0)
            }
            return bytes
        }
        var report = try await report("mixed", concurrency: options.concurrency) {
            await LoadFlight(self).run(perform)
        }
        report["shares"] = MixedLoad.shares(shares.withLock { $0 })
        return report
    }
}

/// Load number n of the mix: the same in every run, independent of which task performs it.
struct MixedLoad: Hashable {
    /// A kind of load in the mix.
    enum Work: String, CaseIterable, Sendable {
        /// A known image in the common size.
        case hit
        /// A known image in a size of its own.
        case size
        /// An uncached image.
        case cold
        /// An uncached image whose load is canceled.
        case cancel

        /// The percentage of loads.
        var percent: Int {
            switch self {
            case .hit: 65
            case .size, .cold: 15
            case .cancel: 5
            }
        }
    }

    /// The number of images that are requested repeatedly.
    static let known = 16
    /// The longer side of most images in pixels.
    static let commonSide = 512

    let work: Work
    /// The index of a known image.
    let image: Int
    /// The longer side in pixels, for a size of its own.
    let side: Int
    /// The delay after which the load is canceled, in milliseconds.
    let cancelMilliseconds: Int

    init(number: Int) {
        var numbers = SeededNumbers(number)
        let hundredth = Int(numbers.next() % 100)
        var sum = 0
        work =
            Work.allCases.first {
                sum += $0.percent
                return hundredth < sum
            } ?? .hit
        image = Int(numbers.next() % UInt64(Self.known))
        side = Int(64 + numbers.next() % 448)
        cancelMilliseconds = Int(1 + numbers.next() % 20)
    }

    /// Reports the loads of each kind of work.
    static func shares(_ loads: [Work: LoadMetrics]) -> [BenchReport] {
        let all = loads.values.reduce(0) { $0 + $1.requests }
        return Work.allCases.map { work -> BenchReport in
            let share = loads[work] ?? LoadMetrics()
            return [
                "work": work.rawValue, "requests": share.requests, "errors": share.errors,
                "percent": Double(share.requests * 100) / Double(max(1, all)),
                "p50_ms": share.p50, "p99_ms": share.p99,
            ]
        }
    }

    static func request(_ url: String, _ number: Int, side: Int) -> ImageRequest {
        var request = ImageRequest(url: url).numbered(number)
        request.choosePreview(side: side)
        return request
    }

    /// Performs the load; returns its size in bytes, 0 if it was canceled, or `nil` on failure.
    func end(_ bench: Bench, _ url: String) async -> Int? {
        let isKnown = work == .hit || work == .size
        let request = Self.request(
            url, isKnown ? image : Self.known + bench.next(),
            side: work == .size ? side : Self.commonSide)
        let delay: Duration? = work == .cancel ? .milliseconds(cancelMilliseconds) : nil
        return await bench.client.load(isKnown ? request : request.unkept)
            .end(cancelledAfter: delay).byteCount(permitsCancel: work == .cancel)
    }
}

extension LoadTask {
    /// Returns the result of a load, for code that counts failures; the load is canceled after
    /// `delay`.
    func end(cancelledAfter delay: Duration? = nil) async -> Result<ImageResponse, ImageError> {
        let timer = delay.map { delay in
            Task.detached {
                try await Task.sleep(for: delay)
                self.cancel()
            }
        }
        defer { timer?.cancel() }
        do throws(ImageError) {
            return .success(try await response)
        } catch {
            return .failure(error)
        }
    }
}

extension Result<ImageResponse, ImageError> {
    /// Returns the size of an image in bytes, 0 for a permitted cancel, or `nil` for an error.
    func byteCount(permitsCancel: Bool) -> Int? {
        switch self {
        case .success(let image): image.bytes?.count ?? 0
        case .failure(let error): permitsCancel && error.code == .cancelled ? 0 : nil
        }
    }
}
