/// A command line, its exit status, and the name of its error.
struct ExitCase: Sendable {
    let words: [String]
    let status: Int32
    let name: String

    init(_ words: [String], _ status: Int32, _ name: String) {
        (self.words, self.status, self.name) = (words, status, name)
    }
}

extension RealProcesses {
    /// The exit statuses of PROTOCOL §9 and SEMANTICS §15.6.
    @Suite struct ExitStatusTests {
        @Test func everyEndHasItsStatus() async throws {
            let origin = try Self.origin()
            let closed = OriginServer()
            closed.stop()
            try await withStack { stack in
                for end in Self.cases(origin, closed) {
                    let run = try stack.get(end.words + ["--json"]).expect(end.status)
                    #expect(try run.json()["status"]?.text == "error")
                    #expect(try run.json()["error"]?["name"]?.text == end.name, "\(run)")
                }
            }
        }

        @Test func aMissIsNoError() async throws {
            try await withStack { stack in
                let run = try stack.get(
                    ["http://127.0.0.1:9/none.png", "--option", "from-cache-only", "--json"])
                #expect(run.exitStatus == 0, "\(run)")
                #expect(try run.json()["status"]?.text == "miss")
                #expect(try run.json()["cacheType"]?.text == "none")
            }
        }

        @Test func usageIs64AndNothingIsPrintedOnStandardOutput() throws {
            for words in [
                ["get", "http://127.0.0.1/a.png", "--frobnicate"], ["get"], ["frobnicate"], [],
                ["get", "http://127.0.0.1/a.png", "--resize", "x"],
                ["get", "http://127.0.0.1/a.png", "--quality", "101"],
                ["serve", "--decode", "-1"], ["status", "extra"],
            ] {
                let end = try CommandLineRun(words).end().expect(64)
                #expect(end.output == [])
                #expect(!end.errorText.isEmpty)
            }
        }

        @Test func anEndpointThatNobodyServesIs69() throws {
            let folder = TemporaryDirectory()
            let run = try CommandLineRun([
                "get", "http://127.0.0.1/a.png", "--json", "--endpoint",
                "ipc://\(folder.path)/front/front.sock",
            ])
            let end = try run.end().expect(69)
            #expect(try end.json()["error"]?["code"]?.integer == 3022)
            // At once, without the five seconds' wait for a coordinator that may come back.
            #expect(try end.json()["error"]?["message"]?.text?.contains("start a stack") == true)
        }

        @Test(arguments: ["get", "status"]) func soIsASocketThatNobodyListensAt(
            _ command: String
        ) throws {
            let memory = try Linux.TemporaryDirectory(in: "/dev/shm", prefix: "ib-")
            let listener = command == "get" ? "front" : "admin"
            try FileDescriptor.makeDirectory(path: "\(memory.path)/\(listener)")
            let socket = "\(memory.path)/\(listener)/\(listener).sock"
            _ = try UnixListener(path: socket, mode: 0o600)
            let end = try CommandLineRun(
                [command] + (command == "get" ? ["http://127.0.0.1/a.png"] : [])
                    + ["--endpoint", socket]
            ).end().expect(69)
            let sentence = "no coordinator serves \(socket): start a stack there"
            #expect(end.errorText.contains(sentence), "\(end)")
        }

        @Test func aCoordinatorWhoseSupervisorRunsIsWaitedFor() throws {
            let memory = try Linux.TemporaryDirectory(in: "/dev/shm", prefix: "ib-")
            let lock = try FileDescriptor.open(
                "\(memory.path)/serve.lock", [.readWrite, .create])
            #expect(try lock.tryLock(.exclusive))
            try CommandLineRun([
                "get", "http://127.0.0.1/a.png", "--timeout", "100ms", "--endpoint",
                "\(memory.path)/front/front.sock",
            ]).end().expect(124)
        }

        private static func cases(_ origin: OriginServer, _ closed: OriginServer) -> [ExitCase] {
            [
                ExitCase(["not a url"], 64, "invalidURL"),
                ExitCase(["http://"], 64, "invalidURL"),
                ExitCase([origin.url("/missing")], 66, "invalidDownloadStatusCode"),
                ExitCase([origin.url("/broken")], 75, "invalidDownloadStatusCode"),
                ExitCase([origin.url("/html")], 65, "badImageData"),
                ExitCase(
                    [origin.url("/cut.jpg"), "--resize", "100x100"], 65, "badImageData"),
                ExitCase([closed.url("/a.png")], 75, "connectionFailed"),
                ExitCase(["http://nothing.invalid/a.png"], 75, "nameNotResolved"),
                ExitCase([origin.url("/loop")], 76, "tooManyRedirects"),
                ExitCase([origin.url("/short.png")], 76, "shortBody"),
                ExitCase([origin.url("/huge.png")], 77, "limitExceeded"),
                ExitCase(["ftp://127.0.0.1/a.png"], 77, "unsupportedScheme"),
                ExitCase([origin.url("/hang"), "--timeout", "300ms"], 124, "deadlineExceeded"),
                ExitCase(
                    [origin.url("/a.png"), "--crop", "5000,5000,10,10"], 65, "stepFailed"),
            ]
        }

        private static func origin() throws -> OriginServer {
            let image = Images.quadrants()
            let png = try image.png()
            let jpeg = try Images.noise(width: 200, height: 200).jpeg(quality: 90)
            let origin = OriginServer("/a.png", .bytes(png))
            origin.route("/missing", .status(404))
            origin.route("/broken", .status(500))
            let page = Array("<!doctype html><title>no image</title>".utf8)
            origin.route("/html", .bytes(page, contentType: "text/html"))
            origin.route("/cut.jpg", .bytes(Array(jpeg.prefix(jpeg.count / 4))))
            origin.route("/loop", .redirect(to: origin.url("/loop")))
            origin.route("/short.png", .lying(length: png.count + 1000, png))
            origin.route("/huge.png", .lying(length: 10 << 30, png))
            origin.route("/hang", .hang(until: Gate()))
            return origin
        }
    }
}
