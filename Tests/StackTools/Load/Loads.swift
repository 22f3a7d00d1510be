import Imagebus
import Linux
import Model
import Synchronization

/// Keeps many loads in flight until the time is over.
final class Loads: Sendable {
    private let client: ImagebusClient
    private let settings: LoadSettings
    private let hasStopped = Atomic(false)
    private let state = Mutex(State())

    private struct State {
        var tally = Tally()
        var begun = 0
        /// New URLs that were answered; the oldest are dropped when it is full.
        var known: [String] = []
        var random = SystemRandomNumberGenerator()
        /// The expected bytes of every image: the origin serves the same one under each URL.
        var expected: [Int: [UInt8]] = [:]
    }

    private static let knownMax = 2_000
    /// Sizes of the thumbnails: the first is stored before the reply to a new URL, the second is
    /// then produced from the stored original.
    private static let sides = [200, 120]

    init(_ client: ImagebusClient, _ settings: LoadSettings) {
        (self.client, self.settings) = (client, settings)
    }

    var tally: Tally { state.withLock { $0.tally } }

    /// Starts no further loads; pending ones complete.
    func stop() { hasStopped.store(true, ordering: .relaxed) }

    func run() async {
        let start = MonotonicClock.now()
        let end = start + UInt64(settings.seconds) * 1_000_000_000
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<settings.inFlight {
                group.addTask { [self] in
                    while MonotonicClock.now() < end, !hasStopped.load(ordering: .relaxed) {
                        await load(next())
                    }
                }
            }
        }
        let seconds = Double(MonotonicClock.now() - start) / 1e9
        state.withLock { $0.tally.seconds = seconds }
    }

    // MARK: - One load

    private struct Choice {
        let url: String
        let side: Int
        let isNew: Bool

        var request: ImageRequest {
            var request = ImageRequest(url: url)
            request.steps = [.resize(PixelSize(width: side, height: side), .fit)]
            request.output = OutputOptions(format: .jpeg, quality: 80)
            if isNew { request.options = .waitStoreCache }
            return request
        }
    }

    private func next() -> Choice {
        state.withLock { state in
            let dice = Int.random(in: 0..<100, using: &state.random)
            if dice >= settings.newPercent,
                let url = state.known.randomElement(using: &state.random)
            {
                let side = Self.sides.randomElement(using: &state.random) ?? Self.sides[0]
                return Choice(url: url, side: side, isNew: false)
            }
            state.begun += 1
            let url = "\(settings.urlPrefix)\(state.begun).jpg"
            return Choice(url: url, side: Self.sides[0], isNew: true)
        }
    }

    private func load(_ choice: Choice) async {
        let begin = MonotonicClock.now()
        do throws(ImageError) {
            let response = try await client.load(choice.request).response
            let now = MonotonicClock.now()
            try check(response, side: choice.side)
            let isStored = response.storedTiers?.contains(.disk) == true
            if choice.isNew, isStored { Line.printLine("done \(choice.url) \(now)") }
            // An image stored by another client's load isn't stored again.
            let isKept = isStored || response.cacheType != .none
            count(choice, isStored: isKept, took: now - begin, nil)
        } catch {
            let took = MonotonicClock.now() - begin
            Line.printLine("failed \(choice.url) after \(took / 1_000_000) ms: \(error)")
            count(choice, isStored: false, took: took, error)
        }
    }

    private func count(_ choice: Choice, isStored: Bool, took: UInt64, _ error: ImageError?) {
        state.withLock { state in
            state.tally.requests += 1
            state.tally.slowestMilliseconds = max(
                state.tally.slowestMilliseconds, Int(took / 1_000_000))
            if let error {
                state.tally.failures[error.code.rule.name, default: 0] += 1
            } else if choice.isNew {
                state.tally.new += 1
                if !isStored { state.tally.unstored += 1 }
                if state.known.count == Self.knownMax { state.known.removeFirst() }
                state.known.append(choice.url)
            }
        }
    }

    /// Expects a JPEG that fills the box, with the same bytes as all others.
    private func check(_ response: ImageResponse, side: Int) throws(ImageError) {
        guard let info = response.info, let bytes = response.bytes?.array else {
            throw ImageError(.internalError, "there is no image in the reply")
        }
        guard info.format == .jpeg, max(info.size.width, info.size.height) == side,
            ImageFormat.sniff(bytes, tail: []) == .jpeg
        else { throw ImageError(.badImageData, "this is not what was asked for: \(info)") }
        let isExpected = state.withLock { state in
            let expected = state.expected[side] ?? bytes
            state.expected[side] = expected
            return expected == bytes
        }
        guard isExpected else { throw ImageError(.badImageData, "these are wrong bytes") }
    }
}
