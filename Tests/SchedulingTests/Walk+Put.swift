import Model

@testable import Coordinator

extension Walk {
    /// An operator stores bytes under a key used by loads, under an empty one, or again.
    mutating func put() {
        guard let client = pick(stack.clients.sorted()) else { return }
        let key = random.oneIn(9) ? "" : "http://example.org/\(pick(["a", "b"]) ?? "a").jpg"
        let isEncoded = hasSerializers && random.oneIn(3)
        stack.put(
            key, by: client, in: CacheTypes(rawValue: UInt8(draw(0...3))),
            token: random.oneIn(6) ? pick(tokens.filter { stack.waiting[$0] == client }) : nil
        ) { image in
            if isEncoded { image.context.serializer = .transcode(.webp, quality: 1) }
        }
    }
}
