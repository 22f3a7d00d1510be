extension RealProcesses {
    /// refreshCached with real caches and origins (SEMANTICS §6, CASES row 5).
    @Suite struct RefreshTests {
        private let photo: ChangingImage

        init() throws { photo = try ChangingImage() }

        private func images(of task: LoadTask) async throws -> [ImageResponse] {
            var images: [ImageResponse] = []
            for try await image in task.responses { images.append(image) }
            return images
        }

        @Test(arguments: [nil, 100])
        func theOriginIsAskedAndAnswersThatNothingChanged(side: Int?) async throws {
            photo.answer(photo.old)
            try await withClient { stack, client in
                var request =
                    side.map { ImageRequest(photo.url, fit: $0) } ?? ImageRequest(url: photo.url)
                request.options = .refreshCached
                let first = try await images(of: client.load(request))
                #expect(first.map(\.cacheType) == [.none])
                _ = try await stack.awaitIdle()
                let second = try await images(of: client.load(request))
                #expect(second.count == 1)
                #expect(second.first?.cacheType == .memory)
                #expect(second.first?.bytes?.array == first.first?.bytes?.array)
                #expect(photo.conditions == [nil, "\"1\""])
            }
        }

        @Test(arguments: [Delivery.mapped, .chunks])
        func whatHasChangedComesTwiceAndReplacesWhatWasStored(delivery: Delivery) async throws {
            photo.answer(photo.old)
            try await withStack { stack in
                let client = try stack.client(delivery)
                let plain = ImageRequest(photo.url, fit: 100)
                let before = try await client.load(plain).response.bytes?.array
                _ = try await stack.awaitIdle()
                photo.answer(photo.new, etag: "\"2\"")
                let refreshed = try await images(
                    of: client.load(ImageRequest(photo.url, fit: 100, options: .refreshCached)))
                #expect(refreshed.map(\.cacheType) == [.memory, .none])
                #expect(refreshed.map(\.isRefreshed) == [false, true])
                #expect(refreshed.first?.bytes?.array == before)
                let after = try await client.load(plain).response
                #expect(after.cacheType == .memory)
                #expect(after.bytes?.array == refreshed.last?.bytes?.array)
                #expect(after.bytes?.array != before)
                // Another size is also derived from the new bytes, without another GET.
                _ = try await client.load(ImageRequest(photo.url, fit: 50)).response
                #expect(photo.conditions == [nil, "\"1\""])
            }
        }

        @Test func aSizeOfBytesThatWereReplacedIsNotTakenForCurrent() async throws {
            photo.answer(photo.old)
            try await withClient { stack, client in
                for side in [100, 60] {
                    _ = try await client.load(ImageRequest(photo.url, fit: side)).response
                }
                _ = try await stack.awaitIdle()
                photo.answer(photo.new, etag: "\"2\"")
                for side in [100, 60] {
                    let request = ImageRequest(photo.url, fit: side, options: .refreshCached)
                    let both = try await images(of: client.load(request))
                    #expect(both.count == 2, "\(side)")
                    _ = try await stack.awaitIdle()
                }
                #expect(photo.conditions == [nil, "\"1\"", "\"1\""])
            }
        }

        @Test func theSameBytesWithoutValidatorsAreUnmodified() async throws {
            photo.answerPlainly(photo.old)
            try await withClient { stack, client in
                let request = ImageRequest(photo.url, fit: 100, options: .refreshCached)
                _ = try await client.load(request).response
                _ = try await stack.awaitIdle()
                #expect(try await images(of: client.load(request)).count == 1)
                photo.answerPlainly(photo.new)
                #expect(try await images(of: client.load(request)).count == 2)
                #expect(photo.conditions == [nil, nil, nil])
            }
        }

        @Test func aFailedRefreshLeavesTheCachedImage() async throws {
            photo.answer(photo.old)
            try await withClient { stack, client in
                _ = try await client.load(ImageRequest(photo.url, fit: 100)).response
                _ = try await stack.awaitIdle()
                photo.answer(.status(404))
                let task = client.load(ImageRequest(photo.url, fit: 100, options: .refreshCached))
                #expect(await task.errorCode == .invalidDownloadStatusCode)
                #expect(task.cachedResponse?.bytes?.count ?? 0 > 0)
                let file = "\(stack.cacheDirectory)/out.jpg"
                let run = try stack.get([
                    photo.url, "--resize", "100x100", "--format", "jpeg", "--option",
                    "refresh-cached",
                    "--json", "-o", file,
                ]).expect(66)
                #expect(try run.json()["status"]?.text == "error")
                #expect(try run.json()["cacheType"]?.text == "memory")
                #expect(FileBytes.read(file) == task.cachedResponse?.bytes?.array)
            }
        }

        @Test func whatVariesIsKeptByWhatWasAccepted() async throws {
            let (old, new) = (photo.old, photo.new)
            photo.answer(
                OriginBehavior { request in
                    let isNew = request.header("accept") == "image/webp"
                    return OriginResponse(isNew ? new : old, contentType: "image/jpeg")
                }.with(header: "Vary", "Accept"))
            try await withClient { _, client in
                func load(_ accept: String) async throws -> ImageResponse {
                    var request = ImageRequest(url: photo.url)
                    request.headers = [HTTPHeader(name: "Accept", value: accept)]
                    return try await client.load(request).response
                }
                #expect(try await load("image/webp").bytes?.array == new)
                #expect(try await load("image/jpeg").bytes?.array == old)
                let again = try await load("image/webp")
                #expect(again.cacheType == .memory && again.bytes?.array == new)
                #expect(again.key.contains("-Vary(") && !again.key.contains("webp"))
                #expect(try await load("image/jpeg").bytes?.array == old)
                #expect(photo.requestCount == 2)
            }
        }

        /// The origin states, with 304 or with the same bytes, that they may no longer be stored.
        @Test(arguments: [true, false])
        func whatMayNoLongerBeKeptIsOnNoTier(revalidates: Bool) async throws {
            let same: OriginBehavior =
                revalidates
                ? .revalidated(photo.old, etag: "\"1\"", contentType: "image/jpeg")
                : .jpeg(photo.old)
            photo.answer(same)
            try await withClient { stack, client in
                let plain = ImageRequest(photo.url, fit: 100)
                let before = try await client.load(plain).response.bytes?.array
                _ = try await stack.awaitIdle()
                photo.answer(same.with(header: "Cache-Control", "no-store"))
                let refreshed = try await images(
                    of: client.load(ImageRequest(photo.url, fit: 100, options: .refreshCached)))
                // A client that reads too late finds the bytes gone and loads once more
                // (PROTOCOL §10).
                let asked = photo.requestCount
                #expect(refreshed.map(\.cacheType) == (asked == 2 ? [.memory] : [.none]))
                #expect(asked <= 3 && refreshed.first?.bytes?.array == before)
                _ = try await stack.awaitIdle()
                for count in asked + 1...asked + 2 {
                    let image = try await client.load(plain).response
                    #expect(image.cacheType == CacheTypes.none)
                    #expect(photo.requestCount == count, "the original is removed too")
                    _ = try await stack.awaitIdle()
                }
            }
        }

        @Test(arguments: [
            ("Vary", "*"), ("Cache-Control", "max-age=0, no-store"), ("Cache-Control", "private"),
        ])
        func whatIsForOneRequestAloneIsNotStored(header: String, value: String) async throws {
            photo.answerPlainly(photo.old, [(header, value)])
            try await withClient { stack, client in
                for _ in 0..<2 {
                    let image = try await client.load(ImageRequest(photo.url, fit: 100)).response
                    #expect(image.cacheType == CacheTypes.none)
                    _ = try await stack.awaitIdle()
                }
                #expect(photo.requestCount == 2)
            }
        }
    }
}
