import CommandLineInterface
import ImageModel
import Imagebus
import Messages
import Synchronization

/// What all kinds of measurement share: the options, an origin, the stack.
final class BenchSetting: Sendable {
    let options: BenchOptions
    let origin: BenchOrigin
    let client: ImagebusClient
    /// Another connection, for more loads at a time than one may have.
    let connect: @Sendable () throws(ImageError) -> ImagebusClient
    /// On `admin/`: who may see all processes.
    let watcher: ImagebusClient
    private let isStopped = Atomic(false)
    private let lastNumber = Atomic(0)

    init(
        _ options: BenchOptions, _ origin: BenchOrigin,
        connect: @escaping @Sendable () throws(ImageError) -> ImagebusClient,
        watcher: ImagebusClient
    ) throws(ImageError) {
        (self.options, self.origin, self.connect) = (options, origin, connect)
        (client, self.watcher) = (try connect(), watcher)
    }

    /// Ends after the loads that are under way.
    func stop() { isStopped.store(true, ordering: .relaxed) }

    var hasStopped: Bool { isStopped.load(ordering: .relaxed) }

    /// Says on standard error what is being done: a measurement takes its time.
    func say(_ what: String) { Terminal.error("imagebus bench: \(what)\n") }

    /// A number that no image of this measurement had before.
    func next() -> Int { lastNumber.add(1, ordering: .relaxed).newValue }

    /// The coordinator of the stack; nil where its number means nothing here.
    func coordinator() async throws(ImageError) -> StatusReport.ProcessStatus? {
        try await watcher.status().processes.first { $0.kind == .coordinator }
    }

    /// Puts an image at the origin that the stack encodes from one that this command draws.
    func makeImage(
        _ name: String, width: Int, height: Int, _ output: OutputOptions
    ) async throws(ImageError) {
        origin.add("raw.png", BenchImage.raw(width: width, height: height))
        try await encode(name, output)
    }

    /// The same from the drawing of the last image.
    func encode(_ name: String, _ output: OutputOptions) async throws(ImageError) {
        var request = ImageRequest(url: origin.url("raw.png", next())).unkept
        request.output = output
        let image = try await client.load(request).response
        origin.add(name, image.bytes?.array ?? [])
    }
}

extension ImageRequest {
    /// The same, but no cache is asked and nothing is stored.
    var unkept: ImageRequest {
        var request = self
        request.options.insert(.fromLoaderOnly)
        request.storeCacheTypes = .none
        request.originalStoreCacheTypes = .none
        return request
    }
}

/// URLs of a measurement.
enum BenchURL {
    static let place = "{n}"

    /// `{n}` is the number; without one, the number is a query of its own.
    static func numbered(_ url: String, _ number: Int) -> String {
        if url.contains(place) { return counted(url, number) }
        return url + (url.contains("?") ? "&" : "?") + "\(number)"
    }

    /// `{n}` is the number; without one, it is always the same image.
    static func counted(_ url: String, _ number: Int) -> String {
        url.replacing(place, with: "\(number)")
    }
}
