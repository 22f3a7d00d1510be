import ImageModel

@testable import Scheduling

extension Walk {
    /// What is laid over the picture: mostly nothing, sometimes what others load as well, the
    /// picture itself, twice the same, or what nobody may have.
    mutating func addOverlays(to request: inout ImageRequest) {
        guard random.oneIn(4), !request.infoOnly else { return }
        let urls =
            ["a", "b", "c", "d"].map { ImageRequest.picture($0).url }
            + [request.url, "http://other.example/a.jpg"]
        for _ in 0..<draw(1...(random.oneIn(20) ? 5 : 3)) {
            let url = random.oneIn(40) ? "ftp://example.org/a.jpg" : pick(urls) ?? ""
            request.steps.append(.overlay(Overlay(url: url, x: draw(-1...1), opacity: 0.5)))
        }
    }
}
