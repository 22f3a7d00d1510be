import ImageModel
import Linux
import Messages

/// Hits of one client: alone, and while another one has very many loads queued.
///
/// Both take turns, so that both see the same machine. The images of the flood are cold: each is
/// fetched, decoded and transformed, so that all processes have more to do than they can.
struct FloodBench: BenchKind {
    static let name = "flood"
    static let summary = "hits of one client while another one floods the stack"
    static let concurrency = 1
    static let seconds = 18
    static let takesRequest = false

    private let setting: BenchSetting
    /// Many short ones: how fast a shared machine is changes within seconds.
    private static let turns = 9
    /// Before it counts.
    private static let warmUpSeconds = 0.5

    init(_ setting: BenchSetting) { self.setting = setting }

    func run() async throws(ImageError) -> any BenchReport {
        let images = try await WarmImages.loaded(setting)
        try await setting.makeImage(
            "flood.jpg", width: 1_362, height: 1_112, OutputOptions(format: .jpeg, quality: 85))
        let flood = try Flood(setting, url: setting.options.url ?? setting.origin.url("flood.jpg"))
        let seconds = Double(setting.options.seconds) / Double(2 * Self.turns)
        let flight = LoadFlight(setting, seconds: seconds)
        _ = try await images.hits(in: LoadFlight(setting, seconds: Self.warmUpSeconds))
        var turns: [FloodTurn] = []
        for _ in 0..<Self.turns where !setting.hasStopped {
            let alone = try await images.hits(in: flight)
            let flooded = try await flood.during { () throws(ImageError) in
                try await images.hits(in: flight)
            }
            turns.append(FloodTurn(alone: alone, flooded: flooded.value, queued: flooded.queued))
        }
        return FloodReport(turns, concurrency: flight.concurrency)
    }
}
