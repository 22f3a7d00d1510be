import ImageModel
import Imagebus
import Linux
import StackAccess

/// A small image that goes through a stack, one stage after the other, past the caches: who does
/// not answer is known by name.
struct StackCanary {
    /// Who has to answer, in this order.
    enum Stage: String, CaseIterable {
        case coordinator
        /// Its process says whether it has the canary.
        case cache
        case decode
        case transform
    }

    /// How one stage answered.
    struct Step {
        let stage: Stage
        let milliseconds: Double
        /// nil where it did as it should.
        let error: ImageError?
    }

    /// Within which all of them have to answer.
    let milliseconds: Int
    private let begin = MonotonicClock.now()

    static let usualMilliseconds = 5_000

    init(milliseconds: Int = usualMilliseconds) { self.milliseconds = milliseconds }

    /// Asks one stage after the other, up to the first that fails. `route` is the way of operators;
    /// images go to the same stack as those of everybody.
    func run(_ route: StackRoute) -> [Step] {
        var steps: [Step] = []
        do throws(ImageError) {
            let admin = try route.client(asOperator: true, connectMilliseconds: milliseconds)
            defer { admin.end() }
            let front = try route.client(connectMilliseconds: milliseconds)
            defer { front.end() }
            for stage in Stage.allCases {
                let step = step(stage, stage == .coordinator || stage == .cache ? admin : front)
                steps.append(step)
                if step.error != nil { break }
            }
        } catch {
            steps.append(Step(stage: .coordinator, milliseconds: 0, error: error))
        }
        return steps
    }

    private func step(_ stage: Stage, _ client: ImagebusClient) -> Step {
        let start = MonotonicClock.now()
        var failure: ImageError?
        do throws(ImageError) {
            try ask(stage, client, within: max(1, milliseconds - Int((start - begin) / 1_000_000)))
        } catch {
            failure = error
        }
        let spent = Double(MonotonicClock.now() - start) / 1e6
        return Step(stage: stage, milliseconds: spent, error: failure)
    }

    private func ask(
        _ stage: Stage, _ client: ImagebusClient, within left: Int
    ) throws(ImageError) {
        let answer: Bool? = try OperatorQuery.answer(of: client, within: left) {
            client throws(ImageError) in
            switch stage {
            case .coordinator: _ = try await client.status()
            case .cache: _ = try await client.contains(Self.key)
            case .decode:
                _ = try await client.load(Self.look(left), uploading: Self.picture).response
            case .transform:
                _ = try await client.load(Self.work(left), uploading: Self.picture).response
            }
            return true
        }
        guard answer != nil else {
            throw ImageError(.deadlineExceeded, "no answer within \(milliseconds) ms")
        }
    }

    /// Nobody stores it.
    private static let key = "https://canary.invalid/"

    /// A GIF of one pixel.
    private static let picture: [UInt8] =
        Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF]
        + [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0, 0x3B]

    /// Its format and size: a decoder has to work.
    private static func look(_ milliseconds: Int) -> ImageRequest {
        var request = request(milliseconds)
        request.infoOnly = true
        return request
    }

    /// As a JPEG of another size: a decoder and a transformer have to work.
    private static func work(_ milliseconds: Int) -> ImageRequest {
        var request = request(milliseconds)
        request.output.format = .jpeg
        request.steps = [.resize(PixelSize(width: 2, height: 2), .stretch)]
        return request
    }

    private static func request(_ milliseconds: Int) -> ImageRequest {
        var request = ImageRequest(url: "")
        request.options = [.highPriority]
        request.queryCacheTypes = []
        request.storeCacheTypes = []
        request.originalQueryCacheTypes = []
        request.originalStoreCacheTypes = []
        request.timeoutMilliseconds = min(milliseconds, RequestLimits.timeoutMillisecondsMax)
        return request
    }
}

extension StackCanary.Step {
    /// One line for people.
    var sentence: String {
        let spent = "\(Int(milliseconds.rounded())) ms"
        guard let error else { return "\(stage.rawValue) answered in \(spent)" }
        return "\(stage.rawValue) did not do its part (after \(spent)): \(error)"
    }
}
