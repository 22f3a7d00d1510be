import Imagebus
import Model
import StackKit
import TestKit
import Testing

extension Conformance {
    /// The fields of a context besides the option bits (PROTOCOL §8.5); those that need a
    /// configuration have a separate file.
    @Suite struct ContextCases {
        private let gallery: Gallery

        init() throws { gallery = try Gallery() }

        private static let tiers: [CacheTypes] = [.none, .disk, .memory, .all]

        /// storeCacheType and originalStoreCacheType: each is stored in the requested tiers, and
        /// nowhere else.
        @Test func resultAndOriginalAreKeptInTheirTiers() async throws {
            let client = try SharedStack.current.client()
            let admin = try SharedStack.current.operatorClient()
            for (result, original) in zip(Self.tiers, Self.tiers.reversed()) {
                let path = "/store-\(result.name).jpg"
                var request = ImageRequest(gallery.url(path), fit: 40, options: .waitStoreCache)
                request.storeCacheTypes = result
                request.originalStoreCacheTypes = original
                let image = try await client.load(request).response
                #expect(try await admin.contains(image.key) == result)
                #expect(try await admin.contains(request.url) == original, "of \(result.name)")
            }
        }

        /// queryCacheType: an entry in one tier is only found by a query of that tier; likewise
        /// originalQueryCacheType for the original.
        @Test func resultAndOriginalAreLookedForInTheirTiers() async throws {
            let client = try SharedStack.current.client()
            for stored in [CacheTypes.disk, .memory] {
                for asked in Self.tiers {
                    let name = "\(stored.name)-\(asked.name).jpg"
                    let isThere = !asked.isDisjoint(with: stored)

                    var result = ImageRequest(
                        gallery.url("/query-\(name)"), fit: 40, options: .waitStoreCache)
                    result.storeCacheTypes = stored
                    result.originalStoreCacheTypes = .none
                    _ = try await client.load(result).response
                    result.options = .fromCacheOnly
                    result.queryCacheTypes = asked
                    let hit = try await client.load(result).response
                    #expect(hit.status == (isThere ? .ok : .miss), "\(name)")
                    #expect(hit.cacheType == (isThere ? stored : .none), "\(name)")

                    var original = ImageRequest(
                        gallery.url("/original-\(name)"), fit: 40, options: .waitStoreCache)
                    original.storeCacheTypes = .none
                    original.originalStoreCacheTypes = stored
                    _ = try await client.load(original).response
                    original.options = .fromCacheOnly
                    original.originalQueryCacheTypes = asked
                    let produced = try await client.load(original).response
                    #expect(produced.status == (isThere ? .ok : .miss), "original \(name)")
                }
            }
            #expect(gallery.origin.totalRequestCount == 16)
        }

        /// imageThumbnailPixelSize and imagePreserveAspectRatio: inside the box, or exactly the
        /// box, under SDWebImage's keys.
        @Test func aThumbnailKeepsItsShapeUnlessItIsToldOtherwise() async throws {
            let stack = try SharedStack.current
            let url = gallery.url("/thumbnail.jpg")
            for (keeps, height) in [(true, 30), (false, 40)] {
                let answer = try stack.answer(
                    url,
                    ["--thumbnail", "40x40", "--context", "preserve-aspect-ratio=\(keeps)"])
                #expect(answer["width"]?.integer == 40)
                #expect(answer["height"]?.integer == height)
                let suffix = "-Thumbnail({40.000000,40.000000},\(keeps ? 1 : 0)).jpg"
                #expect(answer["key"]?.text == url.dropLast(4) + suffix)
            }
            #expect(gallery.origin.requestCount("/thumbnail.jpg") == 1)
        }

        /// imageTransformer: steps and their key; without steps the source is delivered unchanged.
        @Test func stepsAreTheTransformer() async throws {
            let stack = try SharedStack.current
            let url = gallery.url("/steps.jpg")
            let answer = try stack.answer(url, ["--resize", "20x20", "--mode", "stretch"])
            #expect(answer["width"]?.integer == 20 && answer["height"]?.integer == 20)
            let suffix = "-SDImageResizingTransformer({20.000000,20.000000},0).jpg"
            #expect(answer["key"]?.text == url.dropLast(4) + suffix)
            #expect(try stack.answer(url)["key"]?.text == url)
        }

        /// All eight transformers of SDWebImage: their keys are joined in order, each of them
        /// changes the image, and the final crop determines its size.
        @Test func case094_stepsJoinTheirKeysAndTheLastOneMakesTheSize() async throws {
            let client = try SharedStack.current.client()
            let url = gallery.url("/pipeline.jpg")
            let steps: [TransformStep] = [
                .resize(PixelSize(width: 40, height: 40), .stretch),
                .round(radius: 12), .rotate(Rotation(radians: .pi / 2, fitsSize: true)),
                .flip(horizontal: true, vertical: false),
                .tint(Color(argb: 0x80FF_0000), .multiply),
                .blur(radius: 3), .invert,
                .crop(PixelRect(x: 0, y: 0, size: PixelSize(width: 30, height: 20))),
            ]
            func load(_ steps: [TransformStep]) async throws -> (key: String, pixels: Pixels) {
                var request = ImageRequest(url: url)
                (request.steps, request.output.format) = (steps, .png)
                let image = try await client.load(request).response
                return (image.key, try Pixels(decoding: #require(image.bytes).array))
            }
            let whole = try await load(steps)
            #expect(whole.pixels.size == "30x20")
            let keys = steps.map(\.key).joined(separator: "-")
            #expect(whole.key == url.dropLast(4) + "-\(keys)-Imagebus(png).jpg")
            for left in steps.indices {
                var others = steps
                let step = others.remove(at: left)
                #expect(try await load(others).pixels != whole.pixels, "\(step.key) has no effect")
            }
        }

        /// Options of later versions, and names that SDWebImage doesn't have, are rejected by name
        /// before any work starts.
        @Test func contextsOfLaterVersionsAreRefusedByName() async throws {
            let client = try SharedStack.current.client()
            for key in ContextKey.notSupported {
                var request = ImageRequest(url: gallery.url("/context.jpg"))
                request.context.others[key.rawValue] = "1"
                do throws(ImageError) {
                    _ = try await client.load(request).response
                    Issue.record("\(key.rawValue) was accepted")
                } catch {
                    #expect(error.code == .notSupported)
                    #expect(error.details["option"] == key.rawValue)
                }
            }
            var request = ImageRequest(url: gallery.url("/context.jpg"))
            request.context.others["colour-of-the-sky"] = "blue"
            #expect(await client.load(request).errorCode == .invalidRequest)
            #expect(gallery.origin.acceptedConnectionCount == 0)
        }
    }
}
