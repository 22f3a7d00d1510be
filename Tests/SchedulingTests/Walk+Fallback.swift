import Model

@testable import Coordinator

extension Walk {
    /// A random fallback: usually nil, sometimes a URL that other loads use as well, or one that
    /// may not be loaded.
    mutating func fallback() -> Fallback? {
        guard random.oneIn(3) else { return nil }
        let fallbacks: [Fallback] = [
            .none, .color(Color(argb: 0x80FF_0000)), .color(Color(argb: 0)),
            .url(ImageRequest.image(pick(["a", "b", "c", "d", "e"]) ?? "a").url),
            .url("http://other.example/a.jpg"), .url("ftp://example.org/a.jpg"),
            .url("http://user:word@example.org/a.jpg"),
        ]
        return pick(fallbacks)
    }
}
