import Model

@testable import Coordinator

extension Walk {
    /// Random terms of a request, some of which affect its overlays.
    mutating func terms(of image: ImageRequest) -> LoadTerms {
        var terms = terms()
        terms.overlays = image.preparedOverlays
        for index in terms.overlays.indices {
            if random.oneIn(12) { terms.overlays[index].terms.mayDownload = false }
            if random.oneIn(12) { terms.overlays[index].terms.serializer = serializer() }
            if random.oneIn(12) {
                terms.overlays[index].terms.refusal = ImageError(.addressForbidden, "no")
            }
        }
        return terms
    }

    private mutating func serializer() -> Serializer {
        hasSerializers ? .transcode(.webp, quality: nil) : .asIs
    }

    /// Adds random overlays: usually none, sometimes a URL that other loads use as well, the image
    /// itself, the same one twice, or one that may not be loaded.
    mutating func addOverlays(to request: inout ImageRequest) {
        guard random.oneIn(4), !request.infoOnly else { return }
        let urls =
            ["a", "b", "c", "d"].map { ImageRequest.image($0).url }
            + [request.url, "http://other.example/a.jpg"]
        for _ in 0..<draw(1...(random.oneIn(20) ? 5 : 3)) {
            let url = random.oneIn(40) ? "ftp://example.org/a.jpg" : pick(urls) ?? ""
            request.steps.append(.overlay(Overlay(url: url, x: draw(-1...1), opacity: 0.5)))
        }
    }
}
