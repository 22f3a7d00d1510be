import Imagebus
import Model
import StackKit
import TestKit
import Testing

extension Conformance {
    /// Transfers, shared and canceled (SDWebImageDownloaderTests).
    @Suite struct TransferCases {
        private let gallery: Gallery

        init() throws { gallery = try Gallery() }

        /// The request to the origin lists the accepted image types, unless the load sets that
        /// header itself.
        @Test func case023_theOriginIsToldWhichImagesAreTaken() async throws {
            let stack = try SharedStack.current
            let url = gallery.url("/case023.jpg")
            #expect(try stack.get([url]).exitStatus == 0)
            let own = ["--header", "Accept: image/x-case023"]
            #expect(try stack.get([url, "--option", "from-loader-only"] + own).exitStatus == 0)
            let accepts = gallery.origin.requests("/case023.jpg").map { $0.header("accept") }
            #expect(accepts.count == 2)
            #expect(accepts[0]?.hasPrefix("image/") == true, "\(accepts)")
            #expect(accepts[1] == "image/x-case023")
        }

        /// A header of the request arrives at the origin, and a later one with the same name isn't
        /// added to it.
        @Test func case024_headersOfTheRequestArrive() async throws {
            let stack = try SharedStack.current
            let url = gallery.url("/case024.jpg")
            let words = ["--header", "Test: Value", "--header", "User-Agent: case024/1"]
            #expect(try stack.get([url] + words).exitStatus == 0)
            let request = gallery.origin.requests("/case024.jpg").first
            #expect(request?.header("test") == "Value")
            #expect(request?.header("user-agent") == "case024/1")
        }

        /// 404: error 2001 with the status, and no image.
        @Test func case030_notFoundIsAnErrorWithItsStatus() async throws {
            let stack = try SharedStack.current
            gallery.origin.route("/case030.jpg", .status(404))
            let error = try stack.answer(gallery.url("/case030.jpg"))["error"]
            #expect(error?["name"]?.text == "invalidDownloadStatusCode")
            #expect(error?["details"]?["httpStatus"]?.text == "404")
            #expect(error?["code"]?.integer == 2001)
        }

        /// A rule can give a load its own session: cookies set by the origin are sent back in that
        /// session only.
        @Test func case033_aLoadMayHaveASessionOfItsOwn() async throws {
            let folder = TestKit.TemporaryDirectory()
            let text = """
                profiles:
                  default:
                    rules:
                      - {match: "http://*/case033/one/*", cookies: one}
                      - {match: "http://*/case033/two/*", cookies: two}
                """
            let path = folder.write(Array(text.utf8), to: "a.yaml")
            gallery.origin.route(
                "/case033/*",
                .bytes(gallery.image, contentType: "image/jpeg")
                    .with(header: "Set-Cookie", "who=case033; Path=/"))
            let line = ["--allow-private-networks", "--config", path]
            try await withStack(line, decoders: 1) { stack in
                var seen: [String?] = []
                for name in ["one/a", "two/a", "none/a", "one/b", "two/b", "none/b"] {
                    let end = try stack.get([gallery.url("/case033/\(name).jpg")])
                    #expect(end.exitStatus == 0, "\(end)")
                    let requests = gallery.origin.requests("/case033/\(name).jpg")
                    seen.append(requests.last?.header("cookie"))
                }
                #expect(seen == [nil, nil, nil, "who=case033", "who=case033", nil])
            }
        }

        /// Reports are at least an interval apart, here 100 ms: a body in a hundred parts gives no
        /// more reports than fit into its duration, plus the first, with no bytes, and the last,
        /// with all.
        @Test func case035_progressIsReportedAtMostOncePerInterval() async throws {
            let client = try SharedStack.current.client()
            let other = gallery.url("/case035-other.jpg")
            _ = try await client.load(other).response
            let turnstile = Turnstile()
            let chunk = gallery.image.count / 100
            gallery.origin.route(
                "/case035.jpg", .stepped(gallery.image, chunk: chunk, by: turnstile))
            let reports = Recorder<UInt64>()
            let begin = ContinuousClock.now
            let task = client.load(
                ImageRequest(url: gallery.url("/case035.jpg")), on: .inline,
                progress: { reports.append($0.received) }, completion: { _ in })
            #expect(await gallery.origin.waitForRequest("/case035.jpg"))
            for _ in 0..<150 {
                turnstile.admit()
                // Another load completes in between, so that parts arrive separately.
                _ = try await client.load(other).response
            }
            #expect(try await task.response.bytes?.array == gallery.image)
            let intervals = (ContinuousClock.now - begin) / .milliseconds(100)
            let counts = reports.values
            #expect(Double(counts.count) <= 3 + intervals, "\(counts)")
            #expect(counts.first == 0, "before the completion")
            #expect(counts.last == UInt64(gallery.image.count))
            #expect(counts == counts.sorted())
        }

        /// No URL: no image, error 1000.
        @Test func case027_noURLIsError1000() async throws {
            let client = try SharedStack.current.client()
            #expect(await client.load("").errorCode?.rawValue == 1000)
            #expect(await client.load(ImageRequest("", fit: 20)).errorCode?.rawValue == 1000)
        }

        /// Cancel: 2002, then no transfer is left.
        @Test func case031_cancelEndsWith2002AndLeavesNoTransfer() async throws {
            let stack = try SharedStack.current
            let client = try stack.client()
            let task = client.load(gallery.hold("/case031.jpg", until: Gate()))
            #expect(await gallery.origin.waitForRequest("/case031.jpg"))
            task.cancel()
            #expect(await task.errorCode?.rawValue == 2002)
            #expect(await gallery.origin.waitForConnectionClosed("/case031.jpg"))
            try await stack.awaitNoTransfers()
        }

        /// cancelAllDownloads: each ends with 2002, and the count is 0.
        @Test func case032_cancellingAGroupLeavesNoTransfer() async throws {
            let stack = try SharedStack.current
            let client = try stack.client()
            let group = GroupID(Identifier128(high: 3, low: 2))
            let gate = Gate()
            let tasks = (0..<20).map { number in
                let url = gallery.hold("/case032-\(number).jpg", until: gate)
                return client.load(ImageRequest(url: url), group: group)
            }
            #expect(await gallery.origin.waitForRequest("/case032-19.jpg"))
            client.cancel(group: group)
            for task in tasks { #expect(await task.errorCode?.rawValue == 2002) }
            try await stack.awaitNoTransfers()
        }

        /// Two loads of one URL, the first is canceled: it ends with 2002, the second gets the
        /// image of the same transfer.
        @Test(arguments: [false, true])
        func case036_sameUrlTwiceCancellingFirst(sharesLoads: Bool) async throws {
            let stack = try SharedStack.current
            let client = try stack.client(sharesLoads: sharesLoads)
            let gate = Gate()
            let path = "/case036-\(sharesLoads).jpg"
            let url = gallery.hold(path, until: gate)
            let (first, second) = await withTaskExecutorPreference(client.executor) {
                (client.load(url), client.load(url))
            }
            #expect(await gallery.origin.waitForRequest(path))
            // One message of the client, or two.
            let count = sharesLoads ? 1 : 2
            _ = try await stack.awaitStatus("both") { $0.counter("liveRequests") == count }
            first.cancel()
            #expect(await first.errorCode?.rawValue == 2002)
            gate.open()
            #expect(try await second.response.bytes?.array == gallery.image)
            #expect(gallery.origin.requestCount(path) == 1)
        }

        /// Cancel, and request again at once: the first ends with 2002, the second doesn't join the
        /// ending transfer and succeeds.
        @Test func case037_cancelThenRequestAgain() async throws {
            let stack = try SharedStack.current
            let client = try stack.client()
            gallery.origin.route(
                "/case037.jpg",
                .sequence([
                    .hangBody(until: Gate(), then: gallery.image), .bytes(gallery.image),
                ])
            )
            let url = gallery.url("/case037.jpg")
            let first = client.load(url)
            #expect(await gallery.origin.waitForRequest("/case037.jpg"))
            first.cancel()
            let second = client.load(url)
            #expect(await first.errorCode?.rawValue == 2002)
            #expect(try await second.response.bytes?.array == gallery.image)
            #expect(gallery.origin.requestCount("/case037.jpg") == 2)
        }

        /// Cancel right after the start: 2002 in SDWebImage's domain.
        @Test func case043_cancelRightAfterTheStart() async throws {
            let client = try SharedStack.current.client()
            let url = gallery.hold("/case043.jpg", until: Gate())
            for number in 0..<20 {
                let task = client.load(ImageRequest(url, fit: 20 + number))
                task.cancel()
                let code = await task.errorCode
                #expect(code?.rawValue == 2002)
                #expect(code?.domain == "SDWebImageErrorDomain")
            }
        }

        /// 200 staggered requests of one URL: 200 callbacks with the image. The first starts the
        /// transfer, a hundred arrive during it, and the last fifty after its end.
        @Test func case047_noneOfTwoHundredStaggeredCallbacksIsSkipped() async throws {
            let stack = try SharedStack.current
            let client = try stack.client()
            let turnstile = Turnstile()
            let chunk = gallery.image.count / 100
            gallery.origin.route(
                "/case047.jpg", .stepped(gallery.image, chunk: chunk, by: turnstile))
            let sizes = Recorder<Int?>()
            func load() -> LoadTask {
                client.load(ImageRequest(url: gallery.url("/case047.jpg")), on: .inline) {
                    sizes.append(try? $0.get().bytes?.count)
                }
            }
            let first = load()
            #expect(await gallery.origin.waitForRequest("/case047.jpg"))
            for _ in 1..<150 {
                _ = load()
                turnstile.admit()
            }
            #expect(await first.errorCode == nil)
            for _ in 150..<200 { _ = load() }
            #expect(await sizes.wait(count: 200) != nil)
            try await stack.awaitIdle()
            #expect(sizes.values == Array(repeating: gallery.image.count, count: 200))
        }

        /// Ten staggered requests of an empty file: each ends with 1001, once. (In SDWebImage they
        /// are downloads without a failure cache: here `retryFailed` bypasses it.)
        @Test func case048_eachRequestOfAnEmptyFileFailsOnce() async throws {
            let stack = try SharedStack.current
            let client = try stack.client()
            gallery.origin.route("/case048.jpg", .bytes([]))
            var request = ImageRequest(url: gallery.url("/case048.jpg"))
            request.options = .retryFailed
            let codes = Recorder<UInt16?>()
            for number in 0..<10 {
                let task = client.load(request, on: .inline) { result in
                    if case .failure(let error) = result {
                        codes.append(error.code.rawValue)
                    } else {
                        codes.append(nil)
                    }
                }
                // Every third request waits for the end of those before it.
                if number % 3 == 2 { _ = await task.errorCode }
            }
            #expect(await codes.wait(count: 10) != nil)
            try await stack.awaitIdle()
            #expect(codes.values == Array(repeating: 1001, count: 10))
        }
    }
}
