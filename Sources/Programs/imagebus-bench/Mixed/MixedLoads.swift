import ImageModel
import Imagebus
import Linux
import Synchronization

/// Loads of the mix, one after the other, and what became of each kind.
final class MixedLoads: Sendable {
    private let setting: BenchSetting
    private let url: String
    private let begun = Atomic(0)
    private let counted = Mutex([MixedWork: MixedShare]())

    init(_ setting: BenchSetting, url: String) {
        (self.setting, self.url) = (setting, url)
    }

    var shares: [MixedWork: MixedShare] { counted.withLock { $0 } }

    /// One load; its bytes, 0 where it was given up, nil where it went wrong.
    var load: LoadFlight.Load {
        { [self] in
            let number = begun.add(1, ordering: .relaxed).newValue
            if number >= setting.options.requestsMax { setting.stop() }
            let choice = MixedChoice(number: number)
            let start = MonotonicClock.now()
            let bytes = bytes(await result(choice), choice.work)
            let took = MonotonicClock.now() - start
            counted.withLock { $0[choice.work, default: MixedShare()].count(took, bytes) }
            return bytes
        }
    }

    private func result(_ choice: MixedChoice) async -> Result<ImageResponse, ImageError> {
        switch choice.work {
        case .hit: await setting.client.load(knownRequest(choice.image)).end()
        case .size: await setting.client.load(request(choice.image, side: choice.side)).end()
        case .cold: await setting.client.load(newRequest()).end()
        case .cancel:
            await setting.client.load(newRequest())
                .end(cancelledAfter: .milliseconds(choice.cancelMilliseconds))
        }
    }

    private func bytes(_ result: Result<ImageResponse, ImageError>, _ work: MixedWork) -> Int? {
        switch result {
        case .success(let image): image.bytes?.count ?? 0
        case .failure(let error): work == .cancel && error.code == .cancelled ? 0 : nil
        }
    }

    // MARK: - Requests

    /// What hits ask for.
    func knownRequest(_ source: Int) -> ImageRequest { request(source, side: 512) }

    private func newRequest() -> ImageRequest {
        request(MixedBench.known + setting.next(), side: 512).unkept
    }

    private func request(_ number: Int, side: Int) -> ImageRequest {
        var request = ImageRequest(url: BenchURL.numbered(url, number))
        request.steps = [.resize(PixelSize(width: side, height: side), .fit)]
        request.output = OutputOptions(format: .jpeg, quality: 80)
        return request
    }
}
