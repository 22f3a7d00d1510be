extension RealProcesses {
    /// Bodies and heads processed by rules (`decrypt`, `response`), from an origin controlled by an
    /// attacker: each load ends within its limits and with the expected error.
    @Suite struct RuleInputTests {
        private let origin = OriginServer()
        private let folder = TemporaryDirectory()
        private let image: [UInt8]

        init() throws { image = try Images.waves(width: 64, height: 64).png() }

        private func configuration() throws -> String {
            let text = (0..<32).map { digits(of: $0) }.joined()
            let key = folder.write(text, to: "key")
            try Tool.run(["chmod", "600", key])
            let place = "http://\(origin.authority)"
            let rules = """
                profiles:
                  default:
                    rules:
                      - {match: "\(place)/gzip/*", decrypt: gzip}
                      - {match: "\(place)/layers/*", decrypt: [gzip, gzip, gzip, gzip]}
                      - {match: "\(place)/base64/*", decrypt: base64}
                      - {match: "\(place)/sealed/*", decrypt: [{aes-256-gcm: "\(key)"}, gzip]}
                      - match: "\(place)/any/*"
                        response: {status: {any: 200}, headers: {Content-Type: image/png}}

                """
            return folder.write(rules, to: "imagebus.yaml")
        }

        /// A byte as two hexadecimal digits.
        private func digits(of byte: Int) -> String {
            let digits = String(byte, radix: 16)
            return digits.count == 2 ? digits : "0" + digits
        }

        /// The response of each path, and how its load must end; nil: with an image.
        private func answers() throws -> [(String, OriginBehavior, ErrorCode?)] {
            let packed = try PackedBodies.gzip(image)
            let blanks = [UInt8](repeating: 10, count: 4 << 20)
            let page = OriginBehavior.bytes(Array("<html>".utf8), contentType: "text/html")
            let endless = OriginBehavior.generated(count: 1 << 40)
            var other = try PackedBodies.sealed(packed)
            other[20] ^= 1
            return [
                ("/gzip/whole", .bytes(packed), nil),
                ("/gzip/bomb", .bytes(try PackedBodies.zeros(mebibytes: 256)), .limitExceeded),
                ("/gzip/text", page, .badImageData),
                ("/gzip/cut", .bytes(Array(packed.dropLast(9))), .badImageData),
                ("/gzip/nothing", .bytes(try PackedBodies.gzip([])), .badImageData),
                ("/gzip/twice", .bytes(try PackedBodies.gzip(packed)), .unsupportedFormat),
                ("/gzip/endless", endless.changed { $0.length = .chunked }, .limitExceeded),
                ("/gzip/slow", .slow(packed, chunk: 1, every: .seconds(1)), .timedOut),
                ("/layers/nested", .bytes(try PackedBodies.nested(512)), .limitExceeded),
                ("/base64/whole", .bytes(try PackedBodies.base64(image)), nil),
                ("/base64/blanks", .bytes(blanks), .badImageData),
                ("/base64/image", .bytes(image), .badImageData),
                ("/base64/empty", .bytes([]), .badImageData),
                ("/sealed/whole", .bytes(try PackedBodies.sealed(packed)), nil),
                ("/sealed/changed", .bytes(other), .badImageData),
                ("/sealed/plain", .bytes(try PackedBodies.sealed(image)), .badImageData),
                ("/sealed/short", .bytes([1, 2, 3]), .badImageData),
                ("/any/whole", OriginBehavior.bytes(image).changed { $0.status = 500 }, nil),
                ("/any/page", page.changed { $0.status = 404 }, .badImageData),
                ("/any/nothing", page.changed { $0.status = 204 }, .badImageData),
                ("/any/unchanged", page.changed { $0.status = 304 }, .badImageData),
                (
                    "/any/endless", endless.changed { ($0.status, $0.length) = (503, .chunked) },
                    .limitExceeded
                ),
                ("/any/loop", .redirect(to: "/any/loop"), .tooManyRedirects),
                ("/any/coded", page.with(header: "Content-Encoding", "br"), .protocolBroken),
            ]
        }

        @Test func eachInputEndsWithinItsLimits() async throws {
            let answers = try answers()
            for (path, answer, _) in answers { origin.route(path, answer) }
            origin.route("/small.png", .bytes(image))
            let arguments = [
                "--allow-private-networks", "--config", try configuration(), "--low-speed-time",
                "2s",
            ]
            let programs = AlteredPrograms(
                "imagebus-coordinator", arguments: ["--body-limit", "8388608"])
            let environment = programs.environment.merging(["IMAGEBUS_FETCH_RETRIES": "0"]) { $1 }
            try await withStack(arguments, decoders: 1, environment: environment) { stack in
                let report = try await stack.awaitIdle()
                let download = try stack.child(#require(report.processes(.download).first))
                let before = try ProcessMetrics(of: download.processID)
                let (client, other) = (try stack.client(), try stack.client())
                let tasks = answers.map { client.load(origin.url($0.0)) }
                for number in 0..<20 {
                    let request = ImageRequest(origin.url("/small.png?\(number)"), fit: 32)
                    let started = ContinuousClock.now
                    #expect(await other.load(request).errorCode == nil)
                    #expect(started.duration(to: .now) < .seconds(10))
                }
                for (task, (path, _, code)) in zip(tasks, answers) {
                    let end = await task.errorCode
                    #expect(end == code, "\(path) ended with \(end as Any)")
                }
                let after = try ProcessMetrics(of: download.processID)
                #expect(after.bytes < before.bytes + (64 << 20), "\(before), then \(after)")
                try await stack.awaitIdle()
            }
        }
    }
}
