import Imagebus
import Model
import StackKit
import TestKit
import Testing

extension Conformance {
    /// Client identities (SEMANTICS §4.6): two identities share neither transfers nor cache
    /// entries.
    @Suite struct IdentityCases {
        private let origin = OriginServer()
        private let gate = Gate()
        private let bytes: [String: [UInt8]]

        /// An origin with a different image for each set of credentials.
        init() throws {
            var bytes: [String: [UInt8]] = [:]
            for (number, name) in Self.identities.enumerated() {
                bytes[name] = try Images.noise(width: 32, height: 24, seed: UInt64(number + 1))
                    .png()
            }
            self.bytes = bytes
        }

        private static let identities = [
            "", "Bearer ann", "Bearer ben", "id=ann", "id=ben", "key ann", "key ben",
        ]

        /// The last one stands for a header that an application defines itself.
        private static let headers = ["authorization", "cookie", "x-who-asks"]

        private static func header(of identity: String) -> String {
            identity.hasPrefix("Bearer") ? headers[0] : headers[identity.hasPrefix("id=") ? 1 : 2]
        }

        private func route(_ path: String) {
            let (bytes, gate) = (bytes, gate)
            origin.route(
                path,
                OriginBehavior { request in
                    let shown = Self.headers.compactMap { request.header($0) }.first ?? ""
                    var response = OriginResponse(bytes[shown] ?? [], contentType: "image/png")
                    response.bodyGate = gate
                    return response
                })
        }

        private func request(
            _ path: String, _ identity: String, _ options: RequestOptions = []
        ) -> ImageRequest {
            var request = ImageRequest(url: origin.url(path))
            if !identity.isEmpty {
                request.headers = [HTTPHeader(name: Self.header(of: identity), value: identity)]
            }
            request.options = options
            return request
        }

        /// Loads of one URL at the same time, with Authorization, with Cookie and without: as many
        /// GETs as identities, each gets its own bytes, twice; afterwards each finds its own entry
        /// in the cache.
        @Test func identitiesShareNeitherATransferNorAnEntry() async throws {
            let stack = try SharedStack.current
            route("/private.png")
            let client = try stack.client(sharesLoads: false)
            let waiting = (Self.identities + Self.identities).map {
                ($0, client.load(request("/private.png", $0, .waitStoreCache)))
            }
            #expect(await origin.waitForRequest("/private.png", count: Self.identities.count))
            _ = try await stack.awaitStatus("all") { $0.counter("liveRequests") == waiting.count }
            gate.open()
            var keys: Set<String> = []
            for (identity, task) in waiting {
                let image = try await task.response
                #expect(image.bytes?.array == bytes[identity], "\(identity)")
                #expect(!image.key.contains("ann") && !image.key.contains("ben"))
                keys.insert(image.key)
            }
            #expect(keys.count == Self.identities.count)
            #expect(origin.requestCount("/private.png") == Self.identities.count)
            for tier in [CacheTypes.memory, .disk] {
                for identity in Self.identities {
                    var request = request("/private.png", identity, .fromCacheOnly)
                    request.queryCacheTypes = tier
                    let image = try await client.load(request).response
                    #expect(image.bytes?.array == bytes[identity], "\(identity) \(tier.name)")
                    #expect(image.cacheType == tier)
                }
            }
            #expect(origin.requestCount("/private.png") == Self.identities.count)
        }

        /// A result is derived from the original of the same identity, cached or not.
        @Test func aResultIsMadeOfTheOriginalOfItsIdentity() async throws {
            let client = try SharedStack.current.client()
            route("/steps.png")
            gate.open()
            for identity in Self.identities {
                _ = try await client.load(
                    request("/steps.png", identity, .waitStoreCache)
                ).response
            }
            for identity in Self.identities {
                var cropped = request("/steps.png", identity, .fromCacheOnly)
                cropped.steps = [.crop(PixelRect(x: 3, y: 2, size: PixelSize(width: 1, height: 1)))]
                cropped.output.format = .png
                let image = try await client.load(cropped).response
                let pixel = try Pixels(decoding: #require(image.bytes?.array)).at(0, 0)
                let own = try Pixels(decoding: #require(bytes[identity])).at(3, 2)
                #expect(pixel == own, "\(identity)")
            }
            #expect(origin.requestCount("/steps.png") == Self.identities.count)
        }

        /// The image of another identity is a miss, not a hit.
        @Test func anotherIdentityFindsNothing() async throws {
            let client = try SharedStack.current.client()
            route("/alone.png")
            gate.open()
            _ = try await client.load(
                request("/alone.png", "Bearer ann", .waitStoreCache)
            ).response
            for identity in ["", "Bearer ben", "id=ann"] {
                let other = request("/alone.png", identity, .fromCacheOnly)
                #expect(try await client.load(other).response.status == .miss, "\(identity)")
            }
        }
    }
}
