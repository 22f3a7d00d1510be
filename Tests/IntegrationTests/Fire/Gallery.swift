import ImageModel
import Imagebus
import TestKit

/// A few small pictures that an origin shows under any number of URLs, and what each of them gives
/// at each size where nothing else runs. Bytes of another picture or size are not right.
struct Gallery: Sendable {
    let origin = OriginServer()
    private let expected: [Choice: [UInt8]]

    /// One picture at one size.
    struct Choice: Hashable, Sendable {
        let picture: Int
        let side: Int
    }

    static let sides = [40, 64, 100]
    static let pictures = 4

    /// Makes the pictures, shows them, and loads each once, storing nothing.
    init(learnedBy client: ImagebusClient) async throws {
        for picture in 0..<Self.pictures {
            let jpeg = try Pictures.noise(width: 160, height: 120, seed: UInt64(picture + 7))
                .jpeg(quality: 85)
            origin.route("/\(picture).jpg", .bytes(jpeg, contentType: "image/jpeg"))
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
            throw StackFailure("pictures of the gallery look alike")
        }
        expected = learned
    }

    static let choices = (0..<pictures).flatMap { picture in
        sides.map { Choice(picture: picture, side: $0) }
    }

    /// Asks for a picture under the URL that belongs to `variant`.
    func request(_ choice: Choice, _ variant: String) -> ImageRequest {
        Self.request(choice, variant, origin)
    }

    /// Whether these are the bytes of that picture at that size.
    func isRight(_ bytes: [UInt8]?, _ choice: Choice) -> Bool {
        bytes != nil && bytes == expected[choice]
    }

    /// What a load of that picture gives.
    func expected(_ choice: Choice) -> [UInt8]? { expected[choice] }

    private static func request(
        _ choice: Choice, _ variant: String, _ origin: OriginServer
    ) -> ImageRequest {
        ImageRequest(origin.url("/\(choice.picture).jpg?\(variant)"), fit: choice.side)
    }
}
