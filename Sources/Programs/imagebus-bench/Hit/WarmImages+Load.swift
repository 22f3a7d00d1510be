import ImageModel
import Imagebus

extension WarmImages {
    /// Until the memory tier has an image.
    private static let attempts = 100

    /// Loads the images of a measurement until the memory tier has them.
    static func loaded(_ setting: BenchSetting) async throws(ImageError) -> WarmImages {
        var requests: [ImageRequest] = []
        var sizes: [Int] = []
        for request in try await self.requests(setting) {
            requests.append(request)
            sizes.append(try await warm(request, setting.client))
        }
        return WarmImages(setting.client, requests, sizes)
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
            return [request]
        }
        let count = url.contains(BenchURL.place) ? setting.options.concurrency : 1
        return (1...count).map { number in
            request.url = BenchURL.counted(url, number)
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
