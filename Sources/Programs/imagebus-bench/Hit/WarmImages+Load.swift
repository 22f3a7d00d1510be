import ImageModel
import Imagebus

extension WarmImages {
    /// Until the memory tier has an image.
    private static let attempts = 100

    /// Loads the images of a measurement until the memory tier has them.
    static func loaded(_ setting: BenchSetting) async throws(ImageError) -> WarmImages {
        let requests = try await self.requests(setting)
        if requests.count > atATime { setting.say("loading \(requests.count) images") }
        var sizes: [Int] = []
        for start in stride(from: 0, to: requests.count, by: atATime) {
            let end = min(start + atATime, requests.count)
            sizes += try await warm(Array(requests[start..<end]), setting.client)
        }
        return WarmImages(setting.client, requests, sizes)
    }

    /// Images that are loaded at a time.
    private static let atATime = 64

    private static func warm(
        _ requests: [ImageRequest], _ client: ImagebusClient
    ) async throws(ImageError) -> [Int] {
        let results = await withTaskGroup(of: Warmed.self) { group in
            for (place, request) in requests.enumerated() {
                group.addTask { await Warmed(place: place, size: size(request, client)) }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        var sizes = Array(repeating: 0, count: requests.count)
        for warmed in results { sizes[warmed.place] = try warmed.size.get() }
        return sizes
    }

    private struct Warmed: Sendable {
        let place: Int
        let size: Result<Int, ImageError>
    }

    private static func size(
        _ request: ImageRequest, _ client: ImagebusClient
    ) async -> Result<Int, ImageError> {
        do throws(ImageError) {
            return .success(try await warm(request, client))
        } catch {
            return .failure(error)
        }
    }

    private static func requests(
        _ setting: BenchSetting
    ) async throws(ImageError) -> [ImageRequest] {
        var request = setting.options.request
        guard let url = setting.options.url else {
            try await setting.makeImage(
                "hit.jpg", width: 1_362, height: 1_112, OutputOptions(format: .jpeg, quality: 90))
            request.url = setting.origin.url("hit.jpg", setting.next())
            if request.wantsOriginal, !setting.options.wantsSource { request.chooseThumbnail() }
            return numbered(request, setting)
        }
        let count =
            url.contains(BenchURL.place)
            ? setting.options.hot ?? setting.options.concurrency : 1
        return (1...count).map { number in
            request.url = BenchURL.counted(url, number)
            return request
        }
    }

    /// The same image under as many URLs as are wanted.
    private static func numbered(
        _ request: ImageRequest, _ setting: BenchSetting
    ) -> [ImageRequest] {
        (0..<(setting.options.hot ?? 1)).map { _ in
            var request = request
            request.url = setting.origin.url("hit.jpg", setting.next())
            return request
        }
    }

    /// Its bytes, once it comes from the memory tier.
    private static func warm(
        _ request: ImageRequest, _ client: ImagebusClient
    ) async throws(ImageError) -> Int {
        for _ in 0..<attempts {
            let image = try await client.load(request).response
            if image.isMemoryHit { return image.bytes?.count ?? 0 }
        }
        throw ImageError(
            .invalidRequest, "the memory tier does not keep this image, or may not be asked")
    }
}

extension ImageRequest {
    /// What is measured where nothing is said: 512 pixels, about 37 KB.
    fileprivate mutating func chooseThumbnail() {
        steps = [.resize(PixelSize(width: 512, height: 512), .fit)]
        output = OutputOptions(format: .jpeg, quality: 91)
    }
}
