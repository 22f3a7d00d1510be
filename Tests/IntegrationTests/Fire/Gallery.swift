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
        let served = origin
        expected = try await client.learnResults(
            Self.choices.map { ($0, Self.request($0, "learn", served)) })
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

extension ImagebusClient {
    /// The results of these loads, made without storing them, which all differ.
    func learnResults<Choice: Hashable>(
        _ requests: [(Choice, ImageRequest)]
    ) async throws -> [Choice: [UInt8]] {
        var learned: [Choice: [UInt8]] = [:]
        for (choice, request) in requests {
            learned[choice] = try await load(request.unstored).response.bytes?.array
        }
        guard Set(learned.values).count == requests.count else {
            throw StackFailure("images of a gallery look alike")
        }
        return learned
    }
}

/// Runs `body` with a stack, a client and a gallery.
func withGallery(
    _ arguments: [String] = ["--allow-private-networks"],
    _ body: (StackHarness, ImagebusClient, Gallery) async throws -> Void
) async throws {
    try await withClient(arguments) { stack, client in
        try await body(stack, client, Gallery(learnedBy: client))
    }
}
