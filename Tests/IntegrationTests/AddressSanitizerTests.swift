extension RealProcesses {
    /// Run by `scripts/test-asan` with programs built with the address sanitizer: a thousand
    /// requests of all kinds, then a clean shutdown, which reports leaks.
    @Suite(
        .enabled(if: CurrentProcess.environment("IMAGEBUS_ASAN") == "1", "IMAGEBUS_ASAN is not 1"))
    struct AddressSanitizerTests {
        @Test func aThousandMixedRequestsEndAsTheyShould() async throws {
            let origin = try Self.origin()
            try await withClient { (stack, client) async throws in
                var expected: [ErrorCode?] = []
                var tasks: [LoadTask] = []
                for number in 0..<1000 {
                    let (request, code) = Self.request(number, origin)
                    expected.append(code)
                    tasks.append(client.load(request, wantsProgress: number % 3 == 0))
                    if number % 7 == 6 { tasks[number - 3].cancel() }
                }
                for (number, task) in tasks.enumerated() {
                    let code = await task.errorCode
                    let mayBeCancelled = number % 7 == 3
                    #expect(
                        code == expected[number] || mayBeCancelled && code == .cancelled,
                        "\(number): \(String(describing: code))")
                }
                let line = [origin.url("/a.png"), "--rotate", "90", "--json"]
                #expect(try stack.get(line, timeout: .seconds(60)).exitStatus == 0)
                #expect(try stack.run(["status"]).exitStatus == 0)
            }
        }

        private static func request(
            _ number: Int, _ origin: OriginServer
        ) -> (ImageRequest, ErrorCode?) {
            let format: ImageFormat = [.jpeg, .png, .webp][number % 3]
            let side = 20 + number % 11 * 10
            switch number % 10 {
            case let kind where kind < 3:
                let url = origin.url("/a.\(["png", "jpg", "webp"][kind])?\(number / 20)")
                return (ImageRequest(url, fit: side, format: format), nil)
            case 3: return (ImageRequest(url: origin.url("/a.jpg?\(number)")), nil)
            case 4:
                var request = ImageRequest(url: origin.url("/a.gif?\(number)"))
                request.steps = [.rotate(Rotation(degreesClockwise: 90))]
                request.output.format = .png
                return (request, nil)
            case 5:
                return (
                    ImageRequest(url: origin.url("/none?\(number)")), .invalidDownloadStatusCode
                )
            case 6:
                let cut = ImageRequest(origin.url("/cut.jpg?\(number)"), fit: 50)
                return (cut, .badImageData)
            case 7: return (ImageRequest(url: origin.url("/large.png?\(number % 5)")), nil)
            case 8:
                return (
                    ImageRequest(origin.url("/a.jpg"), fit: side, options: .fromLoaderOnly), nil
                )
            default: return (ImageRequest(url: "not a url"), .invalidURL)
            }
        }

        private static func origin() throws -> OriginServer {
            let image = Images.waves(width: 300, height: 200)
            let jpeg = try image.jpeg(quality: 85)
            let large = try Images.noise(width: 700, height: 700).png()
            let origin = OriginServer("/a.png", .bytes(try image.png()))
            origin.route("/a.jpg", .bytes(jpeg))
            origin.route("/a.webp", .bytes(try image.webp(quality: 85)))
            origin.route("/a.gif", .bytes(Images.tinyGIF))
            origin.route("/cut.jpg", .bytes(Array(jpeg.prefix(jpeg.count / 3))))
            origin.route("/large.png", .bytes(large))
            return origin
        }
    }
}
