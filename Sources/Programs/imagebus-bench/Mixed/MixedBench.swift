import ImageModel
import Imagebus
import Linux
import Messages

/// What a stack sees on a common day: mostly hits, some images that nobody has, other sizes of
/// known ones, and loads that are given up.
struct MixedBench: BenchKind {
    static let name = "mixed"
    static let summary = "hits, other sizes, new images and cancels together"
    static var concurrency: Int { 4 * CurrentProcess.processorCount }
    static let seconds = 10
    static let takesRequest = false
    static let takesRequestsMax = true

    private let setting: BenchSetting
    /// Images that are asked for again and again.
    static let known = 16

    init(_ setting: BenchSetting) { self.setting = setting }

    func run() async throws(ImageError) -> any BenchReport {
        if setting.options.url == nil {
            try await setting.makeImage(
                "mixed.jpg", width: 1_362, height: 1_112, OutputOptions(format: .jpeg, quality: 85))
        }
        let loads = MixedLoads(setting, url: setting.options.url ?? setting.origin.url("mixed.jpg"))
        for number in 0..<Self.known {
            _ = try await setting.client.load(loads.knownRequest(number)).response
        }
        let processors = ProcessorsByKind(try await setting.watcher.status())
        let figures = await LoadFlight(setting).run(loads.load)
        return MixedReport(
            figures, concurrency: setting.options.concurrency, shares: loads.shares,
            processors: processors.microseconds(each: figures.requests))
    }
}
