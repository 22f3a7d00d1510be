import Imagebus
import Model
import StackKit
import TestKit
import Testing

extension Conformance {
    /// The effect of each option bit (PROTOCOL §8.5); `OPTIONS.md` lists the tests for each.
    @Suite struct OptionCases {
        private let gallery: Gallery

        init() throws { gallery = try Gallery() }

        private func request(_ path: String, _ options: RequestOptions) -> ImageRequest {
            var request = ImageRequest(url: gallery.url(path))
            request.options = options
            return request
        }

        /// Bits 8, 10, 12, 13, 14, 17, 18, 23 and 25: accepted by library and command line, without
        /// an effect on the image, its key or its tier.
        @Test func optionsWithoutEffectChangeNothing() async throws {
            let stack = try SharedStack.current
            let client = try stack.client()
            let plain = ImageRequest(gallery.url("/nothing.jpg"), fit: 40)
            let expected = try await client.load(plain).response
            for (name, option) in RequestOptions.names
            where RequestOptions.withoutEffect.contains(option) {
                var request = plain
                request.options = option
                let image = try await client.load(request).response
                #expect(image.bytes?.array == expected.bytes?.array, "\(name)")
                #expect(image.key == expected.key, "\(name)")
                #expect(image.cacheType == .memory, "\(name)")
                let end = try stack.get([plain.url, "--option", name])
                #expect(end.exitStatus == 0, "\(end)")
            }
            #expect(gallery.origin.requestCount("/nothing.jpg") == 1)
        }

        /// Bits 5 and 6: rejected by name before any work starts, and the command line exits with
        /// 64.
        @Test func optionsOfLaterVersionsAreRefusedByName() async throws {
            let stack = try SharedStack.current
            for (name, option) in RequestOptions.names
            where RequestOptions.notSupported.contains(option) {
                let end = try stack.get([gallery.url("/later.jpg"), "--json", "--option", name])
                #expect(end.exitStatus == 64, "\(end)")
                let error = try end.json()["error"]
                #expect(error?["code"]?.integer == 3027, "\(name)")
                #expect(error?["details"]?["option"]?.text == name)
            }
            #expect(gallery.origin.acceptedConnectionCount == 0)
        }

        /// Bit 0: the URL is in the failure cache after a body that isn't an image; with the option
        /// the origin is asked nevertheless, and a success removes the URL.
        @Test func retryFailedAsksAgainAndASuccessTakesTheURLOffTheList() async throws {
            let client = try SharedStack.current.client()
            let text = OriginBehavior.bytes(Array("no image".utf8))
            gallery.origin.route("/retry.jpg", .sequence([text, text, .bytes(gallery.image)]))
            let plain = request("/retry.jpg", [])
            let retry = request("/retry.jpg", .retryFailed)
            #expect(await client.load(plain).errorCode == .badImageData)
            #expect(await client.load(plain).errorCode == .blacklisted)
            #expect(await client.load(retry).errorCode == .badImageData)
            #expect(await client.load(plain).errorCode == .blacklisted)
            #expect(await client.load(retry).errorCode == nil)
            #expect(await client.load(plain).errorCode == nil)
            #expect(gallery.origin.requestCount("/retry.jpg") == 3)
        }

        /// Bit 15: a miss isn't an error, and no cache is skipped.
        @Test func fromCacheOnlyNeverAsksTheOrigin() async throws {
            let client = try SharedStack.current.client()
            let only = request("/only.jpg", .fromCacheOnly)
            let miss = try await client.load(only).response
            #expect(miss.status == .miss && miss.cacheType == CacheTypes.none)
            #expect(gallery.origin.acceptedConnectionCount == 0)
            _ = try await client.load(request("/only.jpg", .waitStoreCache)).response
            let hit = try await client.load(only).response
            #expect(hit.status == .ok && hit.cacheType == .memory)
            #expect(hit.bytes?.array == gallery.image)
            #expect(gallery.origin.requestCount("/only.jpg") == 1)
        }

        /// Bit 16: no cache is queried although it has the image; the new image is stored.
        @Test func fromLoaderOnlyAsksNoCacheAndStores() async throws {
            let client = try SharedStack.current.client()
            let other = try Images.quadrants().png()
            gallery.origin.route(
                "/loader.jpg", .sequence([.bytes(gallery.image), .bytes(other)]))
            _ = try await client.load(request("/loader.jpg", .waitStoreCache)).response
            let loader = request("/loader.jpg", [.fromLoaderOnly, .waitStoreCache])
            let fresh = try await client.load(loader).response
            #expect(fresh.cacheType == CacheTypes.none)
            #expect(fresh.bytes?.array == other)
            let hit = try await client.load(request("/loader.jpg", .fromCacheOnly)).response
            #expect(hit.bytes?.array == other)
            #expect(gallery.origin.requestCount("/loader.jpg") == 2)
        }

        /// Bits 15 and 16: no query and no load, which is a miss.
        @Test func fromCacheOnlyAndFromLoaderOnlyTogetherAreAMiss() async throws {
            let client = try SharedStack.current.client()
            _ = try await client.load(request("/both.jpg", .waitStoreCache)).response
            let both = request("/both.jpg", [.fromCacheOnly, .fromLoaderOnly])
            #expect(try await client.load(both).response.status == .miss)
            #expect(gallery.origin.requestCount("/both.jpg") == 1)
        }

        /// Bit 22: the reply is sent after both stores and names the tiers that have the image.
        @Test func waitStoreCacheAnswersAfterTheStores() async throws {
            let stack = try SharedStack.current
            let client = try stack.client()
            let url = gallery.url("/wait.jpg")
            let image = try await client.load(
                ImageRequest(url, fit: 40, options: .waitStoreCache)
            ).response
            #expect(image.storedTiers == .all)
            #expect(try stack.tiers(image.key) == "all")
            #expect(try stack.tiers(url) == "disk", "the original")
            let plain = try await client.load(ImageRequest(url, fit: 50)).response
            #expect(plain.storedTiers == nil)
        }

        /// Bit 4: a load continues after its client has gone, and is stored; without the bit it
        /// ends with its client.
        @Test(arguments: [false, true])
        func continueInBackgroundOutlivesItsClient(continues: Bool) async throws {
            let stack = try SharedStack.current
            let path = "/background-\(continues).jpg"
            let gate = Gate()
            _ = gallery.hold(path, until: gate)
            let client = try stack.client()
            let task = client.load(request(path, continues ? .continueInBackground : []))
            #expect(await gallery.origin.waitForRequest(path))
            client.close()
            #expect(await task.errorCode == .cancelled)
            if continues {
                _ = try await stack.awaitStatus("a lone load") {
                    $0.counter("clients") == 0 && $0.counter("liveRequests") == 1
                }
                gate.open()
            } else {
                #expect(await gallery.origin.waitForConnectionClosed(path))
            }
            try await stack.awaitIdle()
            let next = try stack.client()
            let later = try await next.load(request(path, .fromCacheOnly)).response
            #expect(later.status == (continues ? .ok : .miss))
            #expect(gallery.origin.requestCount(path) == 1)
        }

        /// Bit 19: only the first frame is ever decoded, so the result is the same and comes from
        /// memory.
        @Test func anAnimationIsItsFirstFrameWithAndWithoutTheOption() async throws {
            let client = try SharedStack.current.client()
            gallery.origin.route("/frames.gif", .bytes(Images.animatedGIF))
            let properties = try await client.load(request("/frames.gif", [])).response
            #expect(properties.info?.pages == 2)
            var results: [(bytes: [UInt8]?, key: String?, isHit: Bool)] = []
            for options: RequestOptions in [[], .decodeFirstFrameOnly] {
                var request = request("/frames.gif", options)
                request.output.format = .png
                let image = try await client.load(request).response
                #expect(image.info?.pages == 1)
                let pixels = try Pixels(decoding: #require(image.bytes?.array))
                #expect(pixels.size == "2x2")
                #expect(isClose(pixels.at(0, 0), Images.red))
                #expect(isClose(pixels.at(1, 1), Images.yellow))
                results.append((image.bytes?.array, image.key, image.cacheType == .memory))
            }
            #expect(results[0].bytes == results[1].bytes)
            #expect(results[0].key == results[1].key)
            #expect(results[1].isHit)
        }

        /// The same if nothing else is requested: the animation is reduced to its first frame, and
        /// a still image is delivered unchanged.
        @Test(arguments: [
            ["--option", "decode-first-frame-only"],
            ["--context", "image-decode-options=first-frame-only=yes"],
            ["--context", "image-encode-options=first-frame-only=yes"],
            ["--context", "animated-image-class=still"],
        ])
        func theFirstFrameComesAlsoWhereNothingElseIsAsked(option: [String]) async throws {
            let jpeg = try Images.quadrants().jpeg(quality: 60)
            gallery.origin.route("/alone.gif", .bytes(Images.animatedGIF))
            gallery.origin.route("/as-it-is.jpg", .bytes(jpeg))
            let stack = try SharedStack.current
            let folder = TemporaryDirectory()
            let path = folder.file("out")
            let still = try stack.answer(gallery.url("/alone.gif"), ["-o", path] + option)
            #expect(still["pages"]?.integer == 1 && still["stillOf"]?.integer == 2)
            #expect(still["format"]?.text == "gif")
            let pixels = try Pixels(decoding: #require(FileBytes.read(path)))
            #expect(pixels.size == "2x2" && isClose(pixels.at(0, 0), Images.red))
            _ = try stack.answer(gallery.url("/as-it-is.jpg"), ["-o", path] + option)
            #expect(FileBytes.read(path) == jpeg)
            // The original is unchanged.
            let plain = try stack.answer(gallery.url("/alone.gif"), ["-o", path])
            #expect(plain["pages"]?.integer == 2)
            #expect(FileBytes.read(path) == Images.animatedGIF)
        }
    }
}
