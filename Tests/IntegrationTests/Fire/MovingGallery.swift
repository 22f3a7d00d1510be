import ImageModel
import Imagebus
import TestKit

/// An animation, and a photograph that arrives bit by bit, that an origin shows under any number of
/// URLs; what each way to ask for them gives where nothing else runs.
struct MovingGallery: Sendable {
    /// What is asked for.
    enum Choice: Hashable, Sendable {
        /// One frame of the animation.
        case frame(Int)
        /// All of its frames, made smaller, in a format.
        case all(ImageFormat)
        /// The photograph, in this size, with images of what has arrived.
        case arriving(Int)
    }

    static let choices: [Choice] = [
        .frame(0), .frame(6), .frame(13), .all(.gif), .all(.webp), .arriving(40), .arriving(100),
    ]

    private let origin: OriginServer
    private let expected: [Choice: [UInt8]]

    /// Makes the images, shows them at the origin of the gallery, and loads each once, storing
    /// nothing.
    init(beside gallery: Gallery, learnedBy client: ImagebusClient) async throws {
        origin = gallery.origin
        origin.route("/moving.gif", .bytes(try AnimatedFile(made: "kept.gif").bytes))
        let photograph = try Images.noise(width: 160, height: 120, seed: 99)
            .jpeg(quality: 85, progressive: true)
        origin.route(
            "/arriving.jpg",
            .slow(photograph, chunk: photograph.count / 4 + 1, every: .milliseconds(3)))
        var learned: [Choice: [UInt8]] = [:]
        for choice in Self.choices {
            var request = Self.request(choice, "learn", origin)
            request.options.insert(.fromLoaderOnly)
            request.storeCacheTypes = .none
            request.originalStoreCacheTypes = .none
            learned[choice] = try await client.load(request).response.bytes?.array
        }
        guard Set(learned.values).count == Self.choices.count else {
            throw StackFailure("images of the moving gallery look alike")
        }
        expected = learned
    }

    /// Asks for an image under the URL that belongs to `variant`.
    func request(_ choice: Choice, _ variant: String) -> ImageRequest {
        Self.request(choice, variant, origin)
    }

    /// What a load of it gives.
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
