/// A few small images that an origin serves under any number of URLs, and their results at each
/// size on an idle stack. The bytes of any other image or size are wrong.
struct Gallery: Sendable {
    let origin = OriginServer()
    private let expected: [Choice: [UInt8]]

    /// One image at one size.
    struct Choice: Hashable, Sendable {
        let image: Int
        let side: Int
    }

    static let sides = [40, 64, 100]
    static let images = 4

    /// Creates and serves the images, and loads each once without storing it.
    init(learnedBy client: ImagebusClient) async throws {
        for image in 0..<Self.images {
            let jpeg = try Images.noise(width: 160, height: 120, seed: UInt64(image + 7))
                .jpeg(quality: 85)
            origin.route("/\(image).jpg", .jpeg(jpeg))
        }
        var learned: [Choice: [UInt8]] = [:]
        for choice in Self.choices {
            var request = Self.request(choice, "learn", origin)
            request.options = .fromLoaderOnly
            request.storeCacheTypes = .none
            request.originalStoreCacheTypes = .none
            learned[choice] = try await client.load(request).response.bytes?.array
        }
        guard Set(learned.values).count == Self.choices.count else {
            throw StackFailure("images of the gallery look alike")
        }
        expected = learned
    }

    static let choices = (0..<images).flatMap { image in
        sides.map { Choice(image: image, side: $0) }
    }

    /// A request for an image under the URL that belongs to `variant`.
    func request(_ choice: Choice, _ variant: String) -> ImageRequest {
        Self.request(choice, variant, origin)
    }

    /// Whether these are the bytes of that image at that size.
    func isRight(_ bytes: [UInt8]?, _ choice: Choice) -> Bool {
        bytes != nil && bytes == expected[choice]
    }

    /// The expected result for that image.
    func expected(_ choice: Choice) -> [UInt8]? { expected[choice] }

    private static func request(
        _ choice: Choice, _ variant: String, _ origin: OriginServer
    ) -> ImageRequest {
        ImageRequest(origin.url("/\(choice.image).jpg?\(variant)"), fit: choice.side)
    }
}
