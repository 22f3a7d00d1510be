/// One lane of requests of all kinds, one after another: hits, cold loads, other sizes, animations,
/// partial images, errors, cancels.
struct MixedLoads {
    private let client: ImagebusClient
    private let gallery: Gallery
    private let moving: MovingGallery
    private let lane: Int
    /// A URL that always returns 404.
    private let missing: String
    private var random: SeededGenerator
    private var number = 0
    /// The number of URLs, each of which is used by many requests.
    static let workingSet = 400
    /// The number of requests of each lane after the disturbance is over; on any machine these are
    /// answered.
    static let requestsAfterwards = 10

    private init(
        _ client: ImagebusClient, _ gallery: Gallery, _ moving: MovingGallery, lane: Int,
        seed: UInt64
    ) {
        (self.client, self.gallery, self.moving, self.lane) = (client, gallery, moving, lane)
        missing = gallery.origin.url("/missing")
        random = SeededGenerator(seed: seed)
    }

    /// `count` lanes, which take turns with the clients.
    static func lanes(
        _ count: Int, _ clients: [ImagebusClient], _ gallery: Gallery, _ moving: MovingGallery,
        _ random: inout SeededGenerator
    ) -> [MixedLoads] {
        (0..<count).map {
            MixedLoads(
                clients[$0 % clients.count], gallery, moving, lane: $0, seed: random.next())
        }
    }

    /// Runs requests on all lanes until the gate opens, and then `requestsAfterwards` more on each.
    /// Returns the number of requests per result.
    static func run(_ lanes: [MixedLoads], until isOver: Gate) async -> [ImageEnd: Int] {
        await withTaskGroup(of: [ImageEnd: Int].self) { group in
            for lane in lanes {
                group.addTask {
                    var lane = lane
                    var ends: [ImageEnd: Int] = [:]
                    while !isOver.isOpen { ends[await lane.next(), default: 0] += 1 }
                    for _ in 0..<requestsAfterwards { ends[await lane.next(), default: 0] += 1 }
                    return ends
                }
            }
            return await group.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }
        }
    }

    /// Makes one request and returns how it ended: `right` if as expected.
    mutating func next() async -> ImageEnd {
        number += 1
        guard let choice = Gallery.choices.randomElement(using: &random) else { return .wrong }
        switch Int.random(in: 0..<100, using: &random) {
        case ..<45:
            return await load(
                gallery.request(choice, "few\(Int.random(in: 0..<8, using: &random))"), choice)
        case ..<65:
            let variant = "many\(Int.random(in: 0..<Self.workingSet, using: &random))"
            return await load(gallery.request(choice, variant), choice)
        case ..<75: return await movingLoad()
        case ..<85:
            return await load(gallery.request(choice, "own\(lane)-\(number)"), choice)
        case ..<90: return await failing()
        default:
            let request = gallery.request(choice, "own\(lane)-\(number)")
            return await cancelled(request, expected: gallery.expected(choice))
        }
    }

    /// A third of these is canceled.
    private mutating func movingLoad() async -> ImageEnd {
        guard let choice = MovingGallery.choices.randomElement(using: &random) else {
            return .wrong
        }
        let variant = "moving\(Int.random(in: 0..<Self.workingSet, using: &random))"
        let request = moving.request(choice, variant)
        let expected = moving.expected(choice)
        guard random.happens(33) else {
            return await ImageEnd(of: client.load(request), expected: expected)
        }
        return await cancelled(request, expected: expected)
    }

    private func load(_ request: ImageRequest, _ choice: Gallery.Choice) async -> ImageEnd {
        await ImageEnd(of: client.load(request), expected: gallery.expected(choice))
    }

    private mutating func failing() async -> ImageEnd {
        let url = "\(missing)?\(lane)-\(number)"
        let end = await ImageEnd(of: client.load(ImageRequest(url, fit: 64)), expected: nil)
        return end == .failed(.invalidDownloadStatusCode) ? .right : end
    }

    private mutating func cancelled(
        _ request: ImageRequest, expected: [UInt8]?
    ) async -> ImageEnd {
        let task = client.load(request)
        let span = UInt64.random(in: 0...20_000_000, using: &random)
        // A random moment is intended here, so there is no event to wait for.
        try? await Task.sleep(for: .nanoseconds(span))
        task.cancel()
        let end = await ImageEnd(of: task, expected: expected)
        return end == .failed(.cancelled) ? .right : end
    }
}

/// How a load under test ended.
enum ImageEnd: Hashable, Sendable {
    case right
    case wrong
    case failed(ErrorCode)

    init(of task: LoadTask, expected: [UInt8]?) async {
        do throws(ImageError) {
            self = try await task.response.bytes?.array == expected ? .right : .wrong
        } catch {
            self = .failed(error.code)
        }
    }
}
