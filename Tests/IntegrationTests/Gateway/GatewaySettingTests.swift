import Glibc

extension RealProcesses {
    /// Operator settings of the grammars: by options, by environment variables of other servers, by
    /// YAML.
    @Suite struct GatewaySettingTests {
        private let bench = GatewayBench()
        private let folder = TemporaryDirectory()

        private func routeWaves(_ path: String = "/a.jpg") throws {
            bench.origin.route(
                path, .bytes(try Images.waves(width: 120, height: 60).jpeg(quality: 90)))
        }

        // MARK: - Sources

        @Test func sourcesAreRelativeReplacedOrRefused() async throws {
            try routeWaves()
            let base = bench.origin.url("/")
            try await bench.run([
                "--base-url", base, "--url-replacements", "old://*/=\(base)",
                "--allowed-sources", base, "--schemes", "old",
            ]) { gateway, _ in
                for source in ["a.jpg", base + "a.jpg", "old://x/a.jpg"] {
                    let answer = try gateway.get("/_/plain/\(source)")
                    #expect(answer.status == 200, "\(source)")
                }
            }
            try await bench.run(["--allowed-sources", "https://example.com"]) { gateway, _ in
                let refused = try gateway.get(bench.path("/a.jpg"))
                #expect(refused.status == 403)
                #expect(refused.field("X-Imagebus-Error") == "sourceForbidden")
            }
        }

        @Test func localFilesAreBelowTheirRoot() async throws {
            let image = try Images.waves(width: 120, height: 60).jpeg(quality: 90)
            _ = folder.write(image, to: "a.jpg")
            let outside = TemporaryDirectory()
            let secret = outside.write(image, to: "b.jpg")
            #expect(symlink(secret, "\(folder.path)/link.jpg") == 0)
            try await bench.run([], stack: ["--local-root", folder.path]) { gateway, _ in
                for (path, status) in [
                    ("a.jpg", 200), ("none.jpg", 404), ("link.jpg", 403), ("../b.jpg", 400),
                ] as [(String, Int)] {
                    let answer = try gateway.get("/_/w:60/plain/local:///\(path)")
                    #expect(answer.status == status, "\(path)")
                }
            }
            try await bench.run { gateway, _ in
                let answer = try gateway.get("/_/plain/local:///a.jpg")
                #expect(answer.status == 400)
            }
        }

        // MARK: - Watermarks

        /// By path, as data and by URL: red pixels in the middle.
        @Test(arguments: ["path", "data", "url"])
        func aWatermarkIsLaidOver(kind: String) async throws {
            try routeWaves()
            let mark = try Pixels(
                width: 20, height: 20, bands: 3,
                samples: (0..<400).flatMap { _ in [255, 0, 0] as [UInt8] }
            ).png()
            bench.origin.route("/mark.png", .bytes(mark))
            let place =
                switch kind {
                case "path": folder.write(mark, to: "mark.png")
                case "data": "data:;base64," + Base64Text.text(mark)
                default: bench.origin.url("/mark.png")
                }
            try await withStack(
                [
                    "--allow-private-networks", "--gateway", "127.0.0.1:0", "--gateway-unsigned",
                    "--gateway-watermark", place,
                ], decoders: 1
            ) { stack in
                let answer = try RawClient.get(
                    "/_/wm:1:ce/plain/\(bench.origin.url("/a.jpg"))@png", stack.gatewayPort())
                #expect(answer.status == 200, "\(answer.head)")
                let pixels = try Pixels(decoding: answer.body)
                #expect(pixels.size == "120x60")
                #expect(isClose(pixels.at(60, 30), [255, 0, 0]), "\(pixels.at(60, 30))")
                #expect(!isClose(pixels.at(10, 10), [255, 0, 0]))
                // Its copy can't be loaded by naming it.
                for name in DirectoryEntries.names("\(stack.runtimeDirectory)/watermark") {
                    let stranger = try RawClient.get(
                        "/_/plain/watermark:///\(name)@png", stack.gatewayPort())
                    #expect(stranger.status >= 400, "\(stranger.head)")
                }
            }
        }

        // MARK: - Variables of other servers

        @Test func variablesOfImgproxyAreTaken() async throws {
            try routeWaves()
            let environment = [
                "IMGPROXY_KEY": "736563726574", "IMGPROXY_SALT": "68656C6C6F",
                "IMGPROXY_BASE_URL": bench.origin.url("/"), "IMGPROXY_ARGUMENTS_SEPARATOR": "_",
                "IMGPROXY_PRESETS": "default=w_40", "IMGPROXY_AUTO_WEBP": "true",
                "IMGPROXY_SIGNATURE_SIZE": "32",
            ]
            try await withStack(
                ["--allow-private-networks", "--gateway", "127.0.0.1:0"], decoders: 1,
                environment: environment
            ) { stack in
                let port = try stack.gatewayPort()
                let unsigned = try RawClient.get("/unsafe/plain/a.jpg", port)
                #expect(unsigned.status == 403)
                let answer = try RawClient.get(
                    "/\(Self.signature)/plain/a.jpg", port, "Accept: image/avif,image/webp\r\n")
                #expect(answer.status == 200, "\(answer.head)")
                #expect(answer.field("Content-Type") == "image/webp")
                #expect(try Pixels(decoding: answer.body).width == 40)
            }
        }

        /// `openssl dgst -sha256 -mac HMAC` over salt and `/plain/a.jpg`.
        private static let signature = "9zdzZtTvF2nVYPMcOQnK-54VrdBQapeatCIAbgkuMnA"

        @Test func anUnsupportedVariableEndsTheStart() async throws {
            for (grammar, variable, value) in [
                ("imgproxy", "IMGPROXY_SECRET", "x"), ("imgproxy", "IMGPROXY_NONE", "1"),
                ("thumbor", "THUMBOR_STORAGE", "x"),
            ] {
                let stack = try StackHarness(
                    ["--gateway", "127.0.0.1:0", "--gateway-grammar", grammar],
                    environment: [variable: value])
                let failure = #expect(throws: StackFailure.self) { try stack.start() }
                let text = "\(failure as Any)"
                #expect(text.contains(variable) && text.contains("exit 64"), "\(text)")
            }
        }

        // MARK: - YAML

        @Test func listenersOfTheConfigurationAreLoadedAnew() async throws {
            try routeWaves()
            func yaml(_ width: Int) -> String {
                """
                gateway:
                  unsigned: yes
                  base-url: \(bench.origin.url("/"))
                  listeners:
                    - listen: 127.0.0.1:0
                      path-prefix: /img
                      host: img.example.com
                      preset-lines: ["default=w:\(width)"]
                    - { listen: "127.0.0.1:0", grammar: thumbor, offer: none }

                """
            }
            try await withStack(folder.configuration(yaml(40)), decoders: 1) { stack in
                let urls = try stack.gatewayURLs(2)
                let ports = urls.compactMap(StackHarness.port(ofGateway:))
                #expect(ports.count == 2)
                guard ports.count == 2 else { return }
                func width() throws -> Int {
                    let client = try RawClient(port: ports[0])
                    client.send(
                        "GET /img/_/plain/a.jpg@png HTTP/1.1\r\nHost: img.example.com\r\n\r\n")
                    let answer = client.whole()
                    #expect(answer.status == 200, "\(answer.head)")
                    return try Pixels(decoding: answer.body).width
                }
                let first = try width()
                #expect(first == 40)
                let wrongHost = try RawClient.get("/img/_/plain/a.jpg", ports[0])
                #expect(wrongHost.status == 421)
                let other = try RawClient.get(
                    "/unsafe/30x/a.jpg", ports[1], "Accept: image/webp\r\n")
                #expect(other.field("Content-Type") == "image/jpeg" && other.field("Vary") == nil)
                _ = folder.write(yaml(20), to: "imagebus.yaml")
                try stack.send(.hangUp)
                try pollUntil("the new size") { try width() == 20 }
            }
        }
    }
}
