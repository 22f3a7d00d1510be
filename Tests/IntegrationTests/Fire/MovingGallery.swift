/// An animation and a progressively arriving photograph that an origin serves under any number of
/// URLs, with the expected result of each kind of request on an idle stack.
struct MovingGallery: Sendable {
    /// A kind of request.
    enum Choice: Hashable, Sendable {
        /// One frame of the animation.
        case frame(Int)
        /// All of its frames, reduced, in a format.
        case all(ImageFormat)
        /// The photograph at this size, with partial images.
        case arriving(Int)
    }

    static let choices: [Choice] = [
        .frame(0), .frame(6), .frame(13), .all(.gif), .all(.webp), .arriving(40), .arriving(100),
    ]

    private let origin: OriginServer
    private let expected: [Choice: [UInt8]]

    /// Creates the images, serves them at the origin of the gallery, and loads each once without
    /// storing it.
    init(beside gallery: Gallery, learnedBy client: ImagebusClient) async throws {
        origin = gallery.origin
        origin.route("/moving.gif", .bytes(try AnimatedFile(generated: "kept.gif").bytes))
        let photograph = try Images.noise(width: 160, height: 120, seed: 99)
            .jpeg(quality: 85, progressive: true)
        origin.route(
            "/arriving.jpg",
            .slow(photograph, chunk: photograph.count / 4 + 1, every: .milliseconds(3)))
        let served = origin
        expected = try await client.learnResults(
            Self.choices.map { ($0, Self.request($0, "learn", served)) })
    }

    /// A request for an image under the URL that belongs to `variant`.
    func request(_ choice: Choice, _ variant: String) -> ImageRequest {
        Self.request(choice, variant, origin)
    }

    /// The expected result of the load.
    func expected(_ choice: Choice) -> [UInt8]? { expected[choice] }

    private static func request(
        _ choice: Choice, _ variant: String, _ origin: OriginServer
    ) -> ImageRequest {
        switch choice {
        case .frame(let index):
            var request = ImageRequest(url: origin.url("/moving.gif?\(variant)"))
            (request.frame, request.output.format) = (index, .png)
            return request
        case .all(let format):
            var request = ImageRequest(origin.url("/moving.gif?\(variant)"), fit: 20)
            request.options.insert(.transformAnimatedImage)
            request.output.format = format
            return request
        case .arriving(let side):
            var request = ImageRequest(origin.url("/arriving.jpg?\(variant)"), fit: side)
            request.options.insert(.progressiveLoad)
            return request
        }
    }
}
