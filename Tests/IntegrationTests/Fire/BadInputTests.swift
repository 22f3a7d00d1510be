/// A request and how `imagebus get` must end.
struct BadInput: Sendable {
    let what: String
    let words: [String]
    let code: ErrorCode
    let status: Int32

    init(_ what: String, _ words: [String], _ code: ErrorCode, exit status: Int32) {
        (self.what, self.words, self.code, self.status) = (what, words, code, status)
    }
}

extension RealProcesses {
    /// Whatever the input, each process survives and reports the error.
    @Suite struct BadInputTests {
        private static let bodyLimit = 200_000

        @Test func badInputEndsWithItsErrorAndNoProcess() async throws {
            let programs = AlteredPrograms(
                "imagebus-coordinator", arguments: ["--body-limit", "\(Self.bodyLimit)"])
            let (origin, closed) = (OriginServer(), OriginServer())
            closed.stop()
            let rows = try Self.rows(origin, closed) + Self.brokenFiles(origin)
            try await withStack(environment: programs.environment) { stack in
                let before = Set(stack.children.map(\.processID))
                for row in rows {
                    let end = try stack.get(row.words + ["--json"])
                    let answer = try end.json()
                    let error = answer["error"]
                    #expect(answer["status"]?.text == "error", "\(row.what): \(end)")
                    #expect(error?["name"]?.text == "\(row.code)", "\(row.what): \(end)")
                    #expect(error?["code"]?.integer == Int(row.code.rawValue), "\(row.what)")
                    #expect(end.exitStatus == row.status, "\(row.what): \(end)")
                    #expect(Set(stack.children.map(\.processID)) == before, "\(row.what)")
                }
                print("bad input: \(rows.count) rows")
                for path in ["/good.jpg"] + Self.wholeFirstFrame(origin) {
                    try stack.get([origin.url(path), "--resize", "8x8", "--json"]).expect(0)
                }
                try await stack.awaitIdle()
            }
        }

        private static func rows(
            _ origin: OriginServer, _ closed: OriginServer
        ) throws -> [BadInput] {
            let good = try Images.photo()
            let page = Array("<!doctype html><title>no image</title>".utf8)
            origin.route("/good.jpg", .bytes(good))
            origin.route("/500", .status(500))
            origin.route("/page", .bytes(page, contentType: "text/html"))
            origin.route("/empty", .bytes([]))
            origin.route("/cut.jpg", .bytes(Array(good.prefix(good.count / 2))))
            origin.route("/long", .generated(count: bodyLimit + 1))
            origin.route(
                "/chunks", .generated(count: bodyLimit * 4).changed { $0.length = .chunked })
            origin.route("/endless", .generated(count: 1 << 40).changed { $0.length = .untilClose })
            origin.route("/slow", .slow(good, chunk: 1, every: .seconds(1)))
            origin.route("/nohttp", .raw(Array("SSH-2.0-OpenSSH_9.2\r\n".utf8)))
            origin.route("/nothing", .closing)
            origin.route("/304", .status(304))
            origin.route("/206", .bytes(good).changed { $0.status = 206 })
            origin.route(
                "/line", .bytes(good).with(header: "X", String(repeating: "v", count: 300_000)))
            origin.route("/loop", .redirect(to: origin.url("/loop")))
            origin.route("/short", .lying(length: good.count + 1000, good))
            origin.route("/huge", .lying(length: 10 << 30, good))
            return [
                BadInput("no URL", ["no url"], .invalidURL, exit: 64),
                BadInput("no host", ["http:///a.jpg"], .invalidURL, exit: 64),
                BadInput("a bad port", ["http://127.0.0.1:99999/a.jpg"], .invalidURL, exit: 64),
                BadInput("more than a host", ["http://[::1]x"], .invalidURL, exit: 64),
                BadInput("unasked 304", [origin.url("/304")], .invalidDownloadStatusCode, exit: 66),
                BadInput("unasked 206", [origin.url("/206")], .invalidDownloadStatusCode, exit: 66),
                BadInput("an endless line", [origin.url("/line")], .protocolBroken, exit: 76),
                BadInput("a refused port", [closed.url("/a.jpg")], .connectionFailed, exit: 75),
                BadInput("no such name", ["http://a.invalid/"], .nameNotResolved, exit: 75),
                BadInput("404", [origin.url("/404")], .invalidDownloadStatusCode, exit: 66),
                BadInput("500", [origin.url("/500")], .invalidDownloadStatusCode, exit: 75),
                BadInput("a page", [origin.url("/page")], .badImageData, exit: 65),
                BadInput("no bytes", [origin.url("/empty")], .badImageData, exit: 65),
                BadInput(
                    "half a JPEG", [origin.url("/cut.jpg"), "--resize", "100x100"], .badImageData,
                    exit: 65),
                BadInput("a long body", [origin.url("/long")], .limitExceeded, exit: 77),
                BadInput("long in chunks", [origin.url("/chunks")], .limitExceeded, exit: 77),
                BadInput("an endless body", [origin.url("/endless")], .limitExceeded, exit: 77),
                BadInput(
                    "a byte a second", [origin.url("/slow"), "--timeout", "1500ms"],
                    .deadlineExceeded, exit: 124),
                BadInput("no HTTP", [origin.url("/nohttp")], .protocolBroken, exit: 76),
                BadInput("no answer", [origin.url("/nothing")], .connectionBroken, exit: 75),
                BadInput("a circle", [origin.url("/loop")], .tooManyRedirects, exit: 76),
                BadInput("a short body", [origin.url("/short")], .shortBody, exit: 76),
                BadInput("a huge length", [origin.url("/huge")], .limitExceeded, exit: 77),
                BadInput("another scheme", ["ftp://127.0.0.1/a"], .unsupportedScheme, exit: 77),
                BadInput(
                    "an impossible step", [origin.url("/good.jpg"), "--crop", "5000,5000,10,10"],
                    .stepFailed, exit: 65),
            ]
        }

        /// The file is broken after its fourth frame; this version decodes first frames, and that
        /// one is complete.
        private static func wholeFirstFrame(_ origin: OriginServer) -> [String] {
            guard let bytes = Fixtures.bytes("broken/invalid_multiframe.gif") else { return [] }
            origin.route("/multiframe.gif", .bytes(bytes, contentType: "image/gif"))
            return ["/multiframe.gif"]
        }

        /// The deliberately broken files, if there are fixtures.
        private static func brokenFiles(_ origin: OriginServer) -> [BadInput] {
            let files: [(String, ErrorCode, Int32)] = [
                ("17000x17000.avif", .limitExceeded, 77),
                ("corrupt-header.jpg", .badImageData, 65),
                ("truncated.gif", .badImageData, 65), ("truncated.jpg", .badImageData, 65),
                ("truncated.png", .badImageData, 65), ("truncated.svgz", .unsupportedFormat, 65),
            ]
            return files.compactMap { name, code, status in
                guard let bytes = Fixtures.bytes("broken/\(name)") else { return nil }
                origin.route("/\(name)", .bytes(bytes))
                let words = [origin.url("/\(name)"), "--resize", "100x100"]
                return BadInput(name, words, code, exit: status)
            }
        }
    }
}
