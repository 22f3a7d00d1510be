import Model

@testable import Imagebus

/// A slot without a bus: records the actions of its state machine as words.
struct SlotScript {
    private var machine = SlotMachine<String>()
    private(set) var log: [String] = []

    /// An image; `name` is its key.
    static func image(
        _ name: String, _ tier: CacheTypes = .none, refreshed: Bool = false
    ) -> ImageResponse {
        var response = ImageResponse.image(name, tier)
        response.isRefreshed = refreshed
        return response
    }

    /// A miss under `fromCacheOnly`.
    static var miss: ImageResponse {
        ImageResponse(ImageAccount(missOf: "", StageTimings()), nil)
    }

    @discardableResult
    mutating func load(
        _ url: String, _ options: RequestOptions = [], key: String = "k",
        placeholder: String? = "p", atHand: ImageResponse? = nil
    ) -> SlotLoadID {
        var request = ImageRequest(url: url)
        request.options = options
        let load = SlotLoad<String>(
            key: key, request: request, placeholder: placeholder, wantsProgress: true,
            httpClient: 0, completion: nil)
        let (id, actions) = machine.begin(load, atHand: atHand)
        note(actions)
        return id
    }

    mutating func end(_ id: SlotLoadID, _ response: ImageResponse) {
        note(machine.handle(.end(.success(response)), of: id))
    }

    mutating func fail(_ id: SlotLoadID, _ code: ErrorCode = .timedOut) {
        note(machine.handle(.end(.failure(ImageError(code, "as told"))), of: id))
    }

    mutating func partial(_ id: SlotLoadID, _ name: String) {
        note(machine.handle(.partial(Self.image(name)), of: id))
    }

    mutating func cached(_ id: SlotLoadID, _ response: ImageResponse) {
        note(machine.handle(.cached(response), of: id))
    }

    mutating func advance(_ id: SlotLoadID, _ received: UInt64, of expected: UInt64) {
        let token = Token(Identifier128(high: 0, low: 1))
        let progress = RequestProgress(token: token, received: received, expected: expected)
        note(machine.handle(.progress(progress), of: id))
    }

    mutating func cancel(_ key: String = "k") { note(machine.cancel(key)) }
    mutating func cancelAll() { note(machine.cancelAll()) }
    mutating func transitionEnded(_ key: String = "k") { note(machine.transitionEnded(key)) }
    func state(of key: String = "k") -> SlotState? { machine.state(of: key) }

    /// Events since the last call.
    mutating func drain() -> [String] {
        defer { log = [] }
        return log
    }

    private mutating func note(_ actions: [SlotAction<String>]) {
        log += actions.map(Self.word)
    }

    private static func word(_ action: SlotAction<String>) -> String {
        switch action {
        case .start(let load): "start \(load.id.number)"
        case .stop(let id): "stop \(id.number)"
        case .show(let key, let change): key + ": " + word(change)
        case .notify(let load, let answer): "tell \(load.id.number) " + word(answer)
        }
    }

    private static func word(_ change: SlotChange<String>) -> String {
        switch change {
        case .placeholder(let text): text ?? "nothing"
        case .image(let image, let isPartial, let wants):
            (isPartial ? "partly " : "") + image.key + (wants ? " in transition" : "")
        case .indicator(let isRunning): isRunning ? "spin" : "rest"
        case .progress(let progress): "\(progress.received)/\(progress.expected)"
        }
    }

    private static func word(_ answer: SlotAnswer) -> String {
        let result =
            switch answer.result {
            case .success(let response): response.status == .miss ? "miss" : response.key
            case .failure(let error): "\(error.code.rawValue)"
            }
        return result + (answer.isFinished ? "" : "…") + (answer.isAsynchronous ? " late" : "")
            + (answer.wantsTransition ? " in transition" : "")
    }
}
