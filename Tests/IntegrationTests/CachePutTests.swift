extension RealProcesses {
    /// `imagebus cache put`: stores bytes from an operator for later loads.
    @Suite struct CachePutTests {
        @Test func whatIsPutIsFoundUnderItsKeyWithoutItsOrigin() async throws {
            let png = try Images.quadrants().png()
            let jpeg = try Images.quadrants().jpeg(quality: 90)
            let folder = TemporaryDirectory()
            folder.write(png, to: "a.png")
            folder.write(jpeg, to: "a.jpg")
            try await withStack { stack in
                let url = "http://127.0.0.1:1/a.png"
                func put(_ file: String, _ arguments: [String]) throws -> CommandLineEnd {
                    try stack.run(["cache", "put", url, folder.file(file)] + arguments)
                }
                func cached() throws -> CommandLineEnd {
                    try stack.get([url, "-o", "-", "--option", "from-cache-only"])
                }
                let first = try put("a.png", ["--json"])
                #expect(first.exitStatus == 0, "\(first.errorText)")
                #expect(try first.json()["cacheType"]?.text == "all")
                #expect(try first.json()["key"]?.text == url)
                #expect(try cached().output == png)
                // Only on disk: the memory entry is removed, since the tiers never hold two values
                // for one key.
                #expect(try put("a.jpg", ["--type", "disk"]).outputText == "disk\n")
                #expect(try stack.run(["cache", "contains", url]).outputText == "disk\n")
                #expect(try cached().output == jpeg)
                #expect(try put("a.png", ["--type", "memory"]).outputText == "memory\n")
                #expect(try cached().output == png)
                // A result derived from it doesn't need the origin either.
                let small = try stack.get([url, "--resize", "40x40", "-o", "-"])
                #expect(try Pixels(decoding: small.output).height == 30, "\(small.errorText)")
            }
        }

        @Test func whatIsNoImageOrTooLargeIsNotKept() async throws {
            let folder = TemporaryDirectory()
            folder.write("<!doctype html>", to: "page")
            folder.write([UInt8](repeating: 0, count: (64 << 20) + 1), to: "big")
            folder.write([], to: "empty")
            try await withStack { stack in
                for (file, status) in [("page", Int32(65)), ("big", 77), ("empty", 64), ("no", 64)]
                {
                    let run = try stack.run(["cache", "put", "k", folder.file(file)])
                    #expect(run.exitStatus == status, "\(file): \(run.errorText)")
                }
                #expect(try stack.run(["cache", "contains", "k"]).outputText == "none\n")
            }
        }

        @Test func bytesComeFromStandardInputToo() async throws {
            let png = try Images.quadrants().png()
            try await withStack { stack in
                let put = try stack.run(["cache", "put", "k", "-"], input: png)
                #expect(put.outputText == "all\n")
                #expect(try stack.run(["cache", "contains", "k"]).outputText == "all\n")
            }
        }

        @Test func onlyOperatorsPutAndAsk() async throws {
            let png = try Images.quadrants().png()
            try await withClient { stack, client in
                let key = "http://127.0.0.1:1/a.png"
                await #expect(throws: (any Error).self) {
                    try await OperatorClient(client).contains(key)
                }
                await #expect(throws: ImageError.self) {
                    try await OperatorClient(client).put(png, under: key)
                }
                let operatorClient = try stack.operatorClient()
                #expect(try await operatorClient.contains(key) == CacheTypes.none)
                #expect(try await operatorClient.put(png, under: key, in: .disk) == .disk)
                #expect(try await operatorClient.contains(key) == .disk)
            }
        }
    }
}
