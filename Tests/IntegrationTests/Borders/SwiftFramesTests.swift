extension RealProcesses {
    /// A format unknown to Imagebus, with a coder based on the Swift SDK: its frames, and its
    /// partial images.
    @Suite struct SwiftFramesTests {
        private let folder = TemporaryDirectory()
        private let origin = OriginServer()

        private func withBooks(_ body: (StackHarness) async throws -> Void) async throws {
            let program = try Programs.path(.extensionProbe)
            let text = """
                pools:
                  books:
                    {kind: decode, trust: external, formats-in: [undefined],
                    command: [\(program), book]}

                """
            try await withStack(folder.configuration(text), decoders: 1, body: body)
        }

        private func book(_ frames: [Pixels]) -> [UInt8] {
            let numbers = [frames[0].width, frames[0].height, frames.count, frames[0].bands]
            return Array("BOOK".utf8) + numbers.map { UInt8($0) } + frames.flatMap(\.samples)
        }

        private func serve(_ frames: [Pixels], as name: String) -> String {
            origin.route("/\(name)", .bytes(book(frames), contentType: nil))
            return origin.url("/\(name)")
        }

        private func plain(_ color: UInt8...) -> Pixels {
            let samples = [[UInt8]](repeating: color, count: 24 * 16).flatMap(\.self)
            return Pixels(width: 24, height: 16, bands: color.count, samples: samples)
        }

        @Test func framesAreMadeByTheirNumber() async throws {
            try await withBooks { stack in
                let frames = [plain(250, 10, 10), plain(10, 250, 10), plain(10, 10, 250)]
                let url = serve(frames, as: "book")
                func load(_ words: String...) throws -> Pixels {
                    let end = try stack.get([url, "--format", "png", "-o", "-"] + words).expect(0)
                    return try Pixels(decoding: end.output)
                }
                #expect(try load().samples == frames[0].samples)
                for number in frames.indices {
                    let produced = try load("--frame", "\(number)")
                    #expect(produced.samples == frames[number].samples, "\(number)")
                }
                let none = try stack.get([
                    url, "--frame", "3", "--json", "--format", "png", "-o", folder.file("none"),
                ])
                #expect(try none.json()["error"]?["name"]?.text == "stepFailed", "\(none)")
                #expect(try await stack.awaitIdle().counter("expelledWorkers") == 0)
            }
        }

        /// Pillow and libwebp read the encoded results.
        @Test func allFramesAreShownInTheirOrder() async throws {
            try await withBooks { stack in
                let books = [
                    [plain(250, 10, 10), plain(10, 250, 10), plain(10, 10, 250)],
                    [plain(20), plain(220), plain(120)],
                    [plain(250, 10, 10, 255), plain(10, 250, 10, 255)],
                ]
                for (number, frames) in books.enumerated() {
                    let path = folder.file("\(number).webp")
                    try stack.get([
                        serve(frames, as: "\(number)"), "--animated", "--resize", "12x8",
                        "--format", "webp", "-o", path,
                    ]).expect(0)
                    let read = try AnimatedFile(at: path, in: folder)
                    #expect(read.width == 12 && read.height == 8 && read.plays == 3)
                    #expect(read.stated == frames.map { _ in 40_000 })
                    for (shown, frame) in zip(read.frames, frames) {
                        let pixel = Array(shown[4 * (4 * 12 + 6)..<4 * (4 * 12 + 6) + 3])
                        let color =
                            frame.bands == 1
                            ? [UInt8](repeating: frame.samples[0], count: 3)
                            : Array(frame.samples[..<3])
                        #expect(isClose(pixel, color), "\(number): \(pixel) is not \(color)")
                    }
                }
                // The last frame is incomplete.
                origin.route("/torn", .bytes(book(books[0]).dropLast(), contentType: nil))
                let torn = try stack.get([
                    origin.url("/torn"), "--animated", "--format", "webp", "--json",
                    "-o", folder.file("torn"),
                ])
                #expect(try torn.json()["error"]?["name"]?.text == "badImageData", "\(torn)")
                #expect(try await stack.awaitIdle().counter("expelledWorkers") == 0)
            }
        }

        /// The first half arrives, and the rest once its partial image has been seen.
        @Test func whatHasArrivedIsShown() async throws {
            try await withBooks { stack in
                let whole = Images.noise(width: 64, height: 64, seed: 9)
                let bytes = book([whole])
                let steps = Turnstile()
                origin.route("/slow", .stepped(bytes, chunk: bytes.count / 2, by: steps))
                var request = ImageRequest(url: origin.url("/slow"))
                (request.options, request.output.format) = (.progressiveLoad, .png)
                request.timeoutMilliseconds = 120_000
                let task = try stack.client().load(request)
                steps.admit()
                var early: Pixels?
                for await event in task.events {
                    guard case .partial(let image) = event, early == nil else { continue }
                    early = try Pixels(decoding: #require(image.bytes).array)
                    steps.admit(2)
                }
                let end = try await task.response
                let produced = try Pixels(decoding: #require(end.bytes).array)
                #expect(produced.samples == whole.samples)
                let shown = try #require(early)
                #expect(shown.size == "64x64")
                // Rows that have certainly arrived, and one that hasn't.
                let row = 64 * 3
                #expect(shown.samples.prefix(30 * row) == whole.samples.prefix(30 * row))
                #expect(shown.samples.suffix(row) == [UInt8](repeating: 0, count: row)[...])
            }
        }
    }
}
