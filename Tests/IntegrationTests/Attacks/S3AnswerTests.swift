extension RealProcesses {
    /// An S3 server controlled by an attacker: each of its responses is handled like that of an
    /// HTTP origin, its XML documents are never parsed, and it can't redirect to other targets.
    @Suite struct S3AnswerTests {
        private let server = OriginServer()
        private let other = OriginServer()
        private let folder = TemporaryDirectory()
        private let image: [UInt8]

        init() throws { image = try Images.waves(width: 64, height: 64).png() }

        /// An S3 error document.
        private static func document(_ code: String, more: String = "") -> [UInt8] {
            Array(
                """
                <?xml version="1.0"?><Error><Code>\(code)</Code>\(more)</Error>
                """.utf8)
        }

        private static func failing(_ status: Int, _ code: String) -> OriginBehavior {
            OriginBehavior.bytes(document(code), contentType: "application/xml")
                .changed { $0.status = status }
        }

        /// Nested XML entities that expand to gigabytes in a parser.
        private static let laughs: [UInt8] = {
            let levels = (1...12).map { level in
                let one = "&e\(level - 1);"
                return "<!ENTITY e\(level) \"\(String(repeating: one, count: 10))\">"
            }
            let head = "<?xml version=\"1.0\"?><!DOCTYPE a [<!ENTITY e0 \"ha\">"
            return Array((head + levels.joined() + "]><a>&e12;</a>").utf8)
        }()

        /// The response of each object, and how its load must end; nil: with an image.
        private func answers() throws -> [(String, OriginBehavior, ErrorCode?)] {
            let plain = OriginBehavior.bytes(image)
            let bomb = try PackedBodies.zeros(mebibytes: 256)
            let endless = OriginBehavior.generated(count: 1 << 40)
            let head = "HTTP/1.1 200 OK\r\n" + String(repeating: "x-amz-meta: y\r\n", count: 20_000)
            return [
                ("whole", plain, nil),
                ("xml-type", .bytes(image, contentType: "application/xml"), nil),
                ("long-tag", plain.with(header: "ETag", String(repeating: "e", count: 8_000)), nil),
                ("huge", endless, .limitExceeded),
                ("endless", endless.changed { $0.length = .chunked }, .limitExceeded),
                ("bomb", .bytes(bomb).with(header: "Content-Encoding", "gzip"), .limitExceeded),
                ("slow", .slow(image, chunk: 1, every: .seconds(1)), .timedOut),
                ("silent", .hang(until: Gate()), .timedOut),
                ("silent-body", .hangBody(until: Gate(), then: image), .timedOut),
                ("missing", Self.failing(404, "NoSuchKey"), .invalidDownloadStatusCode),
                ("denied", Self.failing(403, "AccessDenied"), .invalidDownloadStatusCode),
                ("busy", Self.failing(503, "SlowDown"), .invalidDownloadStatusCode),
                (
                    "wrong-region", Self.failing(301, "PermanentRedirect"),
                    .invalidDownloadStatusCode
                ),
                (
                    "endless-error", endless.changed { ($0.status, $0.length) = (404, .chunked) },
                    .invalidDownloadStatusCode
                ),
                ("error-as-200", Self.failing(200, "InternalError"), .badImageData),
                ("laughs", .bytes(Self.laughs, contentType: "application/xml"), .badImageData),
                ("empty", .bytes([]), .badImageData),
                (
                    "other-region", .redirect(to: other.url("/a"), status: 307),
                    .invalidDownloadResponse
                ),
                ("part", plain.changed { $0.status = 206 }, .invalidDownloadStatusCode),
                ("unchanged", plain.changed { $0.status = 304 }, .invalidDownloadStatusCode),
                ("short", .lying(length: 1 << 20, image), .shortBody),
                ("other-rest", rest, .shortBody),
                ("many-fields", .raw(Array(head.utf8)), .protocolBroken),
            ]
        }

        /// Breaks off, and answers the range request for the rest with that of another object.
        private var rest: OriginBehavior {
            OriginBehavior { [image] request in
                guard request.header("range") != nil else {
                    var response = OriginResponse(image)
                    response.headers = [("ETag", "\"1\"")]
                    response.closesAfter = image.count - 20
                    return response
                }
                var response = OriginResponse(Array(image.suffix(20)), status: 206)
                let last = image.count - 1
                response.headers = [
                    ("ETag", "\"2\""),
                    ("Content-Range", "bytes \(image.count - 20)-\(last)/\(image.count)"),
                ]
                return response
            }
        }

        private func configuration() -> String {
            let text = """
                loaders:
                  store:
                    kind: s3
                    endpoint: \(server.url(""))
                    region: eu-central-1
                    allow-addresses: ["\(server.authority)"]
                    match: s3://photos/*

                """
            return folder.write(text, to: "imagebus.yaml")
        }

        @Test func eachAnswerEndsAsOneOfHTTP() async throws {
            let answers = try answers()
            for (name, answer, _) in answers { server.route("/photos/\(name)", answer) }
            // On a busy machine, so many responses at once may take seconds to begin.
            let arguments = ["--config", configuration(), "--low-speed-time", "5s"]
            let programs = AlteredPrograms(
                "imagebus-coordinator", arguments: ["--body-limit", "8388608"])
            let environment = programs.environment.merging(["IMAGEBUS_FETCH_RETRIES": "0"]) { $1 }
            try await withStack(arguments, decoders: 1, environment: environment) { stack in
                let report = try await stack.awaitIdle()
                let download = try stack.child(#require(report.processes(.download).first))
                let before = try ProcessMetrics(of: download.processID)
                let client = try stack.client()
                let tasks = answers.map { client.load("s3://photos/\($0.0)") }
                for (task, (name, _, code)) in zip(tasks, answers) {
                    let end = await task.errorCode
                    #expect(end == code, "\(name) ended with \(end as Any)")
                }
                let after = try ProcessMetrics(of: download.processID)
                #expect(after.bytes < before.bytes + (64 << 20), "\(before), then \(after)")
                #expect(other.acceptedConnectionCount == 0)
                try await stack.awaitIdle()
            }
        }
    }
}
