import ImageModel
import Imagebus
import Messages

/// Very many loads at once: for one image, then for many images in several sizes each.
struct StormBench: BenchKind {
    static let name = "storm"
    static let summary = "very many loads at once"
    static let concurrency = 10_000
    /// It ends when all have their answer.
    static let seconds = 1

    private let setting: BenchSetting
    /// Of one connection: it may have 4,096 at a time.
    private static let loadsPerClient = 2_500
    /// Sizes of each of many images, in pixels of the longer side.
    private static let sides = (1...10).map { $0 * 32 }
    /// Enough for the slowest machine: what is measured is how long it takes.
    private static let timeoutMilliseconds = 600_000

    init(_ setting: BenchSetting) { self.setting = setting }

    func run() async throws(ImageError) -> any BenchReport {
        var clients: [ImagebusClient] = []
        for _ in stride(from: 0, to: setting.options.concurrency, by: Self.loadsPerClient) {
            clients.append(try setting.connect())
        }
        let one = try await runOne(clients)
        // The origin of somebody else need not have very many images.
        let many =
            setting.options.url == nil && !setting.hasStopped ? try await runMany(clients) : nil
        return StormReport(one, many: many)
    }

    /// All for one image.
    private func runOne(_ clients: [ImagebusClient]) async throws(ImageError) -> StormFigures {
        var request = setting.options.request
        if setting.options.url == nil {
            try await setting.makeImage(
                "storm.jpg", width: 2_725, height: 2_225, OutputOptions(format: .jpeg, quality: 85))
            request.url = setting.origin.url("storm.jpg")
            if !setting.options.isRequestChosen { request.choosePreview() }
        } else {
            request.url = BenchURL.counted(request.url, setting.next())
        }
        request.timeoutMilliseconds = Self.timeoutMilliseconds
        let expected = try await expected(request)
        let loads = [StormLoad](
            repeating: StormLoad(request: request, expected: expected),
            count: setting.options.concurrency)
        return try await measure(loads, clients, urls: 1, sizes: 1, image: "storm.jpg")
    }

    /// A tenth as many images, each in ten sizes.
    private func runMany(_ clients: [ImagebusClient]) async throws(ImageError) -> StormFigures {
        try await setting.makeImage(
            "many.jpg", width: 640, height: 480, OutputOptions(format: .jpeg, quality: 85))
        var sizes: [StormLoad] = []
        for side in Self.sides {
            var request = ImageRequest(url: setting.origin.url("many.jpg"))
            request.steps = [.resize(PixelSize(width: side, height: side), .fit)]
            request.output = OutputOptions(format: .jpeg, quality: 80)
            // A stack without a disk keeps no original by default: a size that is asked for when
            // all others are done would be a transfer of its own.
            request.originalQueryCacheTypes = .all
            request.originalStoreCacheTypes = .all
            request.timeoutMilliseconds = Self.timeoutMilliseconds
            sizes.append(StormLoad(request: request, expected: try await expected(request)))
        }
        let urls = max(1, setting.options.concurrency / sizes.count)
        let loads = (1...urls).flatMap { number in
            sizes.map { size in
                var load = size
                load.request.url = setting.origin.url("many.jpg", number)
                return load
            }
        }
        return try await measure(
            loads, clients, urls: urls, sizes: sizes.count, image: "many.jpg")
    }

    /// The same load alone.
    private func expected(_ request: ImageRequest) async throws(ImageError) -> [UInt8] {
        try await setting.client.load(request.unkept).response.bytes?.array ?? []
    }

    private func measure(
        _ loads: [StormLoad], _ clients: [ImagebusClient], urls: Int, sizes: Int, image: String
    ) async throws(ImageError) -> StormFigures {
        let before = try await setting.watcher.status()
        let requestsBefore = setting.origin.requestCount(image)
        StackMemory.resetPeaks(before)
        var figures = await StormFlight.run(loads, clients)
        let after = try await setting.watcher.status()
        (figures.urls, figures.sizes) = (urls, sizes)
        figures.count(before, after)
        if setting.options.url == nil {
            figures.gets = setting.origin.requestCount(image) - requestsBefore
        }
        figures.memory = StackMemory.read(after)
        return figures
    }
}
