extension RealProcesses {
    /// Image properties over HTTP, compared with what other programs read from the same file.
    @Suite struct GatewayPropertiesTests {
        private let bench = GatewayBench()

        private func json(_ response: RawClient.Response) throws -> JSONValue {
            try JSONValue(parsing: response.body)
        }

        /// What ImageMagick reads from the same bytes: its format name, size, alpha and number of
        /// frames.
        private func seen(
            _ bytes: [UInt8]
        ) throws -> (format: String, width: Int, height: Int, alpha: Bool, frames: Int) {
            let folder = TemporaryDirectory()
            let file = folder.write(bytes, to: "image")
            let lines = try Tool.text(["identify", "-format", "%m %w %h %A\n", file])
                .split(separator: "\n")
            let words = try #require(lines.first).split(separator: " ").map(String.init)
            try #require(words.count == 4)
            return (
                words[0].lowercased(), try #require(Int(words[1])), try #require(Int(words[2])),
                !["False", "Undefined"].contains(words[3]), lines.count
            )
        }

        /// The mean of all pixels, by ImageMagick.
        private func mean(_ bytes: [UInt8]) throws -> [UInt8] {
            let folder = TemporaryDirectory()
            let file = folder.write(bytes, to: "image")
            return try Tool.run(
                ["convert", file, "-resize", "1x1!", "-filter", "Box", "-depth", "8", "RGB:-"])
        }

        @Test(arguments: ["a.png", "a.jpg", "a.webp", "a.gif"])
        func infoSaysWhatOtherReadersSay(name: String) async throws {
            let pixels = Images.waves(width: 60, height: 40)
            let bytes: [UInt8] =
                switch name {
                case "a.png": try pixels.png()
                case "a.jpg": try pixels.jpeg(quality: 95)
                case "a.webp": try pixels.webp(quality: 95)
                default: Images.animatedGIF
                }
            bench.origin.route("/a", .bytes(bytes).with(header: "Cache-Control", "max-age=600"))
            try await bench.run { gateway, _ in
                let answer = try gateway.get("/info\(bench.path("/a", ""))")
                #expect(answer.status == 200, "\(answer.head)")
                #expect(answer.field("Content-Type") == "application/json")
                #expect(answer.field("Cache-Control")?.hasPrefix("max-age=") == true)
                let (ours, theirs) = (try json(answer), try seen(bytes))
                #expect(ours["format"]?.text == theirs.format, "\(ours)")
                #expect(ours["width"]?.integer == theirs.width)
                #expect(ours["height"]?.integer == theirs.height)
                #expect(ours["pages"]?.integer == theirs.frames)
                if name != "a.gif" {
                    #expect(ours["hasAlpha"] == .bool(theirs.alpha), "\(theirs)")
                    let stated = try #require(ours["averageColour"]?.text)
                    let color = stride(from: 1, to: 7, by: 2).compactMap { place in
                        UInt8(stated.dropFirst(place).prefix(2), radix: 16)
                    }
                    let wanted = try mean(bytes)
                    #expect(isClose(color, wanted, by: 12), "\(stated) \(wanted)")
                }
                let hash = try #require(ours["thumbHash"]?.text)
                #expect(hash.utf8.count >= 8 && hash.utf8.count % 4 == 0)
                let tag = try #require(answer.field("ETag"))
                let again = try gateway.get(
                    "/info\(bench.path("/a", ""))", "If-None-Match: \(tag)\r\n")
                #expect(again.status == 304 && again.body.isEmpty)
                #expect(bench.origin.requestCount("/a") == 1)
            }
        }

        @Test func infoRefusesWhatIsNoFact() async throws {
            bench.origin.route("/page", .bytes(Array("<html>".utf8), contentType: "text/html"))
            try await bench.run { gateway, _ in
                let resized = try gateway.get("/info\(bench.path("/a.png", "w:10"))")
                #expect(resized.status == 501)
                #expect(try gateway.get("/info\(bench.path("/none.png", ""))").status == 404)
                #expect(try gateway.get("/info\(bench.path("/page", ""))").status == 422)
            }
        }

        @Test func metaIsThatOfThumbor() async throws {
            let bytes = try Images.waves(width: 60, height: 40).jpeg(quality: 90)
                .withEXIF(orientation: 3)
            bench.origin.route("/a.jpg", .bytes(bytes))
            try await bench.run(["--grammar", "thumbor"]) { gateway, _ in
                let url = bench.origin.url("/a.jpg")
                let properties = try json(try gateway.get("/unsafe/meta/\(url)"))
                let source = properties["thumbor"]?["source"]
                #expect(source?["url"]?.text == url && source?["width"]?.integer == 60)
                #expect(properties["thumbor"]?["target"]?["height"]?.integer == 40)
                #expect(properties["content_type"]?.text == "image/jpeg")
                #expect(properties["orientation"]?.integer == 3)
            }
        }

        /// IIIF Image API 3.0, sections 2 and 5, and the table of Level 2.
        @Test func iiifSaysWhatLevelTwoAsksFor() async throws {
            bench.origin.route("/i/a b.png", .bytes(try Images.waves(width: 60, height: 40).png()))
            bench.origin.route(
                "/i/a%20b.png", .bytes(try Images.waves(width: 60, height: 40).png()))
            let source = bench.origin.url("/i/{id}")
            try await bench.run(
                [
                    "--grammar", "iiif", "--iiif-source", source, "--public-url",
                    "https://images.example/x",
                ]
            ) { gateway, _ in
                let base = try gateway.get("/a%20b.png", "Origin: https://viewer.example\r\n")
                #expect(base.status == 303 && base.field("Location") == "/a%20b.png/info.json")
                #expect(base.field("Access-Control-Allow-Origin") == "*")
                let answer = try gateway.get(
                    "/a%20b.png/info.json", "Origin: https://viewer.example\r\n")
                #expect(answer.status == 200, "\(answer.head)")
                #expect(answer.field("Access-Control-Allow-Origin") == "*")
                #expect(answer.field("Vary") == "Accept")
                #expect(answer.field("Content-Type")?.hasPrefix("application/ld+json") == true)
                let info = try json(answer)
                #expect(info["@context"]?.text == "http://iiif.io/api/image/3/context.json")
                #expect(info["id"]?.text == "https://images.example/x/a%20b.png")
                #expect(info["type"]?.text == "ImageService3")
                #expect(info["protocol"]?.text == "http://iiif.io/api/image")
                #expect(info["profile"]?.text == "level2")
                #expect(info["width"]?.integer == 60 && info["height"]?.integer == 40)
                let plain = try gateway.get(
                    "/a%20b.png/info.json", "Accept: application/json\r\n")
                #expect(plain.field("Content-Type") == "application/json")
                // The formats that it lists can be requested.
                for format in info["extraFormats"]?.array?.compactMap(\.text) ?? [] {
                    let image = try gateway.get("/a%20b.png/full/30,/0/gray.\(format)")
                    #expect(image.status == 200, "\(format): \(image.head)")
                    #expect(image.field("Access-Control-Allow-Origin") == "*")
                    #expect(try Pixels(decoding: image.body).size == "30x20")
                }
                for path in [
                    "full/!20,20/0/default.jpg", "full/^90,60/90/default.jpg",
                    "pct:0,0,50,50/10,10/!22.5/color.png", "square/pct:50/270/gray.png",
                    "full/!2000,3000/0/default.png",
                ] {
                    let image = try gateway.get("/a%20b.png/\(path)")
                    #expect(image.status == 200, "\(path): \(image.head)")
                }
                for path in ["full/61,/0/default.jpg", "60,0,9,9/max/0/default.jpg"] {
                    #expect(try gateway.get("/a%20b.png/\(path)").status == 400, "\(path)")
                }
                #expect(try gateway.get("/a/b.png/full/max/0/default.jpg").status == 404)
            }
        }
    }
}
