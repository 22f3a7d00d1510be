import Curl
import Model
import TestKit

@testable import Downloading

/// An origin, a downloader that may connect to it, and all of its reports.
final class DownloadBench: Sendable {
    let origin: OriginServer
    let space: HeapSpace
    let outcomes = Recorder<JobOutcome>()
    let progress = Recorder<JobProgress>()
    let downloader: Downloader

    /// With `gate`, the downloader blocks when it reports bytes until the gate opens.
    init(
        bytesMax: Int = 1 << 30, origin: OriginServer = OriginServer(), gate: Gate? = nil,
        change: (inout DownloadConfiguration) -> Void = { _ in }
    ) throws {
        self.origin = origin
        var configuration = DownloadConfiguration(version: "test")
        configuration.allowedAddresses = [origin.authority]
        // Only the tests of slow transfers may find a loaded machine too slow.
        configuration.transfer.lowSpeedSeconds = 600
        // Only its own test may see the same bytes handed out twice, however slow the machine.
        configuration.publishing.again = 3_600_000
        change(&configuration)
        space = HeapSpace(bytesMax: bytesMax)
        downloader = try Downloader(
            configuration, into: space,
            onProgress: { [progress] report in
                progress.append(report)
                if let gate, report.received > 0 { _ = gate.wait(timeout: defaultTimeout) }
            }, onOutcome: { [outcomes] in outcomes.append($0) })
    }

    /// A bench that starts the download of one path, which the origin serves in this way.
    static func started(
        _ path: String, _ behavior: OriginBehavior, headers: [HTTPHeader] = [],
        bodyBytesMax: UInt64 = 1 << 30, millisecondsLeft: UInt32 = 60_000,
        validators: Validators? = nil, wantsProgress: Bool = true, wantsArrived: Bool = false,
        terms: TransferTerms = TransferTerms(), bytesMax: Int = 1 << 30,
        change: (inout DownloadConfiguration) -> Void = { _ in }
    ) throws -> DownloadBench {
        let bench = try DownloadBench(bytesMax: bytesMax, change: change)
        bench.origin.route(path, behavior)
        bench.start(
            path, headers: headers, bodyBytesMax: bodyBytesMax,
            millisecondsLeft: millisecondsLeft, validators: validators,
            wantsProgress: wantsProgress, wantsArrived: wantsArrived, terms: terms)
        return bench
    }

    /// Starts a job for a path of the origin or for a complete URL.
    func start(
        _ place: String, id: UInt64 = 1, headers: [HTTPHeader] = [],
        bodyBytesMax: UInt64 = 1 << 30, millisecondsLeft: UInt32 = 60_000,
        validators: Validators? = nil, sources: [String] = [], loader: FetchLoader = .http,
        wantsProgress: Bool = true, wantsArrived: Bool = false,
        terms: TransferTerms = TransferTerms()
    ) {
        let url = place.hasPrefix("/") ? origin.url(place) : place
        let work = FetchWork(
            url: url, headers: headers, bodyBytesMax: bodyBytesMax, validators: validators,
            sources: sources, loader: loader, terms: terms)
        downloader.start(
            Job(
                id: JobID(id), attempt: 1, work: .fetch(work), millisecondsLeft: millisecondsLeft,
                priority: .normal, wantsProgress: wantsProgress, wantsArrived: wantsArrived))
    }

    /// Makes a job report its progress from now on, or hand out the bytes that have arrived.
    func listen(to id: JobID, looks: Bool = false) {
        downloader.adjust(
            JobAdjustment(
                id: id, millisecondsLeft: 60_000, priority: .normal, wantsProgress: !looks,
                wantsArrived: looks))
    }

    /// The only outcome so far, or nil if none arrives.
    func outcome() async -> JobOutcome? {
        await outcomes.wait()?.first
    }

    /// The error of the only outcome so far.
    func failure() async -> ImageError? {
        await outcome()?.failure
    }

    /// The body of the only outcome so far.
    func body() async -> FetchedBody? {
        await outcome()?.body
    }
}

extension JobOutcome {
    var failure: ImageError? {
        guard case .failed(let error) = result else { return nil }
        return error
    }

    var body: FetchedBody? {
        guard case .fetched(let body) = result else { return nil }
        return body
    }
}
