extension RealProcesses {
    /// Plug-ins written with the Swift SDK, started by `serve`.
    @Suite struct SwiftExtensionTests {
        private let folder = TemporaryDirectory()
        private let origin = OriginServer()

        private var begun: String { folder.file("begun") }

        private func withPool(
            _ pool: String, _ program: TestedProgram, _ arguments: [String] = [],
            beside: String = "", more: String = "", _ body: (StackHarness) async throws -> Void
        ) async throws {
            let words = try ([Programs.path(program)] + arguments).joined(separator: ", ")
            let mine = "mine: {trust: external, \(pool), command: [\(words)]}"
            let text = "pools: {\(mine)\(beside)}\n\(more)"
            try await withStack(folder.configuration(text), decoders: 1, body: body)
        }

        private func withCoder(
            _ program: TestedProgram, _ arguments: String...,
            body: (StackHarness) async throws -> Void
        ) async throws {
            try await withPool("kind: decode, formats-in: [qoi]", program, arguments, body)
        }

        /// Waits until its function has begun.
        private func awaitBegun(_ stack: StackHarness) async throws {
            _ = try await stack.awaitStatus("its file") { _ in
                try stack.expectStarting(pool: "mine")
                return FileBytes.read(begun) != nil
            }
        }

        /// Serves a QOI image of this size; each pixel is stored in full, as in the specification.
        private func route(
            _ name: String, _ width: Int, _ height: Int, bands: Int = 3,
            pixel: (Int, Int) -> [UInt8] = { _, _ in [1, 2, 3, 4] }
        ) -> String {
            var file = Array("qoif".utf8)
            for side in [width, height] {
                file += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: side >> $0) }
            }
            file += [UInt8(bands), 0]
            for y in 0..<height {
                for x in 0..<width { file += [bands == 3 ? 0xFE : 0xFF] + pixel(x, y) }
            }
            return route(name, file + [0, 0, 0, 0, 0, 0, 0, 1])
        }

        private func route(_ name: String, _ file: [UInt8]) -> String {
            origin.route("/\(name)", .bytes(file, contentType: "image/qoi"))
            return origin.url("/\(name)")
        }

        /// The pixels of the PNG that the stack converts it to, decoded by libvips.
        private func pixels(_ url: String, _ stack: StackHarness) throws -> Pixels {
            let end = try stack.get([url, "--format", "png", "-o", "-"]).expect(0)
            return try Pixels(decoding: end.output)
        }

        private func error(
            _ url: String, _ stack: StackHarness, _ arguments: [String] = ["--format", "png"]
        ) throws -> JSONValue? {
            let end = try stack.get([url, "--json", "-o", folder.file("out")] + arguments)
            return try end.json()["error"]
        }

        // MARK: - The example coder

        @Test func theExampleDecodesWhatTheReferenceEncoded() async throws {
            try await withCoder(.qoiCoder) { stack in
                for hasAlpha in [false, true] {
                    let url = route("\(hasAlpha).qoi", try QOIFile.bytes(hasAlpha: hasAlpha))
                    let produced = try pixels(url, stack)
                    let bands = hasAlpha ? 4 : 3
                    #expect(produced.size == "16x12" && produced.bands == bands)
                    let expected = QOIFile.samples(hasAlpha: hasAlpha).enumerated()
                        .filter { $0.offset % 4 < bands }.map(\.element)
                    #expect(produced.samples == expected)
                }
                let large = Images.waves(width: 700, height: 500)
                let url = route("large.qoi", 700, 500) { large.at($0, $1) }
                #expect(try pixels(url, stack).samples == large.samples)
                let report = try await stack.awaitIdle()
                #expect(report.counter("expelledWorkers") == 0)
                let process = try #require(report.worker())
                #expect(process.restarts == 0)
            }
        }

        @Test func theExampleRefusesWhatLies() async throws {
            try await withCoder(.qoiCoder) { stack in
                let whole = try QOIFile.bytes(hasAlpha: true)
                var wide = whole
                wide.replaceSubrange(4..<8, with: [0, 0, 0xFF, 0xFF])
                var huge = whole
                huge.replaceSubrange(4..<12, with: [UInt8](repeating: 0xFF, count: 8))
                let cut = Array(whole.dropLast(200))
                // A valid file that exceeds the maximum side length.
                let run = Array(whole[..<4]) + [0, 0, 0x9C, 0x40, 0, 0, 0, 1, 3, 0]
                let long = run + [UInt8](repeating: 0xFD, count: 646) + whole.suffix(8)
                let cases = [
                    ("wide", wide, "badImageData"), ("huge", huge, "badImageData"),
                    ("cut", cut, "badImageData"), ("long", long, "limitExceeded"),
                ]
                for (name, file, code) in cases {
                    let error = try error(route("\(name).qoi", file), stack)
                    #expect(error?["name"]?.text == code, "\(name): \(String(describing: error))")
                }
                let process = try #require(try await stack.awaitIdle().worker())
                #expect(process.restarts == 0)
            }
        }

        /// Every kind of chunk, with all pixel layouts; `qoiconv` is the reference program.
        @Test func theOtherExampleEncodesWhatTheReferenceReads() async throws {
            try await withPool("kind: transform, formats-out: [qoi]", .qoiEncoder) { stack in
                let pictures = [
                    Images.waves(width: 211, height: 97), Images.quadrants(width: 64, height: 64),
                    Pixels(
                        width: 40, height: 30, bands: 4,
                        samples: (0..<4_800).map { UInt8(truncatingIfNeeded: $0 * $0 / 97) }),
                ]
                for (number, picture) in pictures.enumerated() {
                    let name = "/\(number).png"
                    origin.route(name, .bytes(try picture.png()))
                    let (produced, read) = (folder.file("made.qoi"), folder.file("read.png"))
                    try stack.get([origin.url(name), "-o", produced]).expect(0)
                    try CommandLineRun(
                        program: "/usr/bin/qoiconv", [produced, read]
                    ).end().expect(0)
                    let pixels = try Pixels(decoding: try #require(FileBytes.read(read)))
                    #expect(pixels.size == picture.size && pixels.samples == picture.samples)
                }
                let process = try #require(try await stack.awaitIdle().worker())
                #expect(process.restarts == 0)
            }
        }

        @Test func theExampleIsDrainedAndLeavesNothing() async throws {
            try await withCoder(.qoiCoder) { stack in
                let url = route("a.qoi", 3, 2)
                #expect(try pixels(url, stack).size == "3x2")
                let drained = try stack.run(["drain", "decode/mine"])
                #expect(drained.outputText == "replaced 1 decode/mine process\n", "\(drained)")
                try await stack.awaitWorker(restarts: 1)
                #expect(try pixels("\(url)?again", stack).size == "3x2")
            }
        }

        // MARK: - Failing functions

        /// The next process runs the job and removes the leftovers of the killed one from the
        /// arena.
        @Test(arguments: [Signal.kill, .stop])
        func anotherProcessDoesTheJobOfOneThatIsLost(signal: Signal) async throws {
            let coder = try Programs.path(.qoiCoder)
            let idle = "trust: external, command: [\(coder)]"
            try await withPool(
                "kind: decode, formats-in: [qoi]", .extensionProbe, ["coder", begun],
                beside: ", beside: {kind: decode, formats-in: [qoi], \(idle)}"
            ) { stack in
                let run = try stack.startGet([
                    route("a.qoi", 2, 2), "--format", "png", "-o", "-", "--timeout", "5m",
                ])
                try await awaitBegun(stack)
                let process = try await stack.awaitWorker()
                try ProcessDescriptor(ProcessID(process.pid)).send(signal)
                // Checks by `serve` that are late on a busy machine don't count.
                let end = try run.end(timeout: .seconds(90)).expect(0)
                let produced = try Pixels(decoding: end.output)
                #expect(produced.samples == [UInt8](repeating: 2, count: 12))
                try await stack.awaitWorker(restarts: 1)
                // An idle process sends heartbeats too.
                let report = try await stack.awaitIdle()
                #expect(report.worker(of: "beside")?.restarts == 0)
            }
        }

        /// Images of one column are made without heeding a cancel, those of two columns heed it.
        @Test(arguments: [1, 2])
        func aFunctionThatHeedsNoCancelEndsItsProcess(columns: Int) async throws {
            try await withCoder(.extensionProbe, "coder", begun) { stack in
                let url = route("a.qoi", columns, 3)
                let run = try stack.startGet([url, "--format", "png", "-o", "-"])
                try await awaitBegun(stack)
                try run.send(.interrupt)
                #expect(try run.end().exitStatus != 0)
                if columns == 1 {
                    // By itself, or by the coordinator if the machine is too busy for that.
                    try await stack.awaitWorker(restarts: 1)
                    let logText = FileBytes.text(stack.logFile) ?? ""
                    let reasons = [
                        "job ignored its cancellation",
                        "a worker did not respond to the cancellation of a job",
                    ]
                    #expect(reasons.contains { logText.contains($0) })
                }
                let expected = [UInt8](repeating: UInt8(columns), count: 9 * columns)
                #expect(try pixels(url, stack).samples == expected)
                let report = try await stack.awaitIdle()
                #expect(columns == 1 || report.worker()?.restarts == 0)
            }
        }

        @Test func errorsOfACoderReachTheCaller() async throws {
            try await withCoder(.extensionProbe, "coder", begun) { stack in
                for (columns, name, number) in [
                    (3, "internalError", 3_000), (9, "foreignFailure", -7),
                ] {
                    let error = try error(route("\(columns).qoi", columns, 1), stack)
                    #expect(error?["name"]?.text == name, "\(String(describing: error))")
                    #expect(error?["code"]?.integer == number)
                }
                let failed = try error(route("named.qoi", 9, 1), stack)
                #expect(failed?["domain"]?.text == "ProbeErrorDomain")
                #expect(try pixels(route("5.qoi", 5, 2), stack).samples.allSatisfy { $0 == 0 })
                #expect(try await stack.awaitIdle().worker()?.restarts == 0)
            }
        }

        /// It reports the reason to the process that started it.
        @Test func aWorkerThatCannotDoWhatItsPoolDoesSaysSo() async throws {
            try await withPool("kind: decode, formats-in: [exr]", .qoiCoder) { stack in
                let words = ["--runtime-dir", stack.runtimeDirectory, "--pool", "mine"]
                let end = try CommandLineRun(program: Programs.path(.qoiCoder), words).end()
                end.expect(70, "session ended by the coordinator", "exr")
            }
        }

        // MARK: - Transformers and loaders

        @Test func stepsOfATransformerAreDoneBetweenOurs() async throws {
            try await withPool(
                "kind: transform, steps: [probe.invert, probe.green]",
                .extensionProbe, ["transformer"]
            ) { stack in
                let picture = Images.quadrants(width: 40, height: 30)
                origin.route("/a.png", .bytes(try picture.png()))
                let url = origin.url("/a.png")
                func steps(_ words: String...) throws -> Pixels {
                    let end = try stack.get([url, "--format", "png", "-o", "-"] + words).expect(0)
                    return try Pixels(decoding: end.output)
                }
                let inverted = try steps("--custom", "probe.invert")
                #expect(inverted.samples == picture.samples.map { 255 - $0 })
                let less = try steps("--custom", "probe.invert:by=250", "--flip", "h")
                #expect(less.at(0, 0) == [250, 50, 250] && less.size == "40x30")
                let green = try steps("--custom", "probe.green")
                #expect(green.at(39, 0).first == 200 && green.at(0, 0).first == 0)
                let error = try error(
                    url, stack, ["--custom", "probe.invert:by=x", "--format", "png"])
                #expect(error?["name"]?.text == "stepFailed", "\(String(describing: error))")
                #expect(try await stack.awaitIdle().counter("expelledWorkers") == 0)
            }
        }

        private func withLoader(_ body: (StackHarness) async throws -> Void) async throws {
            let image = folder.write(try Images.quadrants(width: 16, height: 8).png(), to: "a.png")
            try await withPool(
                "kind: download, schemes: [probe], credit: 4",
                .extensionProbe, ["loader", begun, image],
                more: "loaders: {mine: {kind: pool, pool: mine}}\n", body)
        }

        @Test func aLoaderHasBytesOrSaysWhyNot() async throws {
            try await withLoader { stack in
                #expect(try pixels("probe://image/a", stack).size == "16x8")
                #expect(try pixels("probe://counts/a", stack).size == "16x8")
                for (word, name) in [
                    ("none", "badImageData"), ("many", "limitExceeded"),
                    ("fails", "foreignFailure"), ("ours", "invalidDownloadContentType"),
                    ("breaks", "internalError"),
                ] {
                    let error = try error("probe://\(word)/a", stack)
                    #expect(error?["name"]?.text == name, "\(word): \(String(describing: error))")
                }
                #expect(try await stack.awaitIdle().worker()?.restarts == 0)
                // Its output is in the log, at the latest when it ends.
                _ = try stack.run(["drain", "download/mine"])
                try await stack.awaitWorker(restarts: 1)
                #expect(FileBytes.text(stack.logFile)?.contains("asked for none") == true)
            }
        }

        /// A waiting load doesn't block the others, and canceled loads end at once.
        @Test(arguments: ["waits", "deaf"])
        func loadsRunBesideOneThatWaits(word: String) async throws {
            try await withLoader { stack in
                let run = try stack.startGet(["probe://\(word)/a", "-o", "-"])
                try await awaitBegun(stack)
                #expect(try pixels("probe://image/b", stack).size == "16x8")
                try run.send(.interrupt)
                #expect(try run.end().exitStatus != 0)
                #expect(try await stack.awaitIdle().worker()?.restarts == 0)
            }
        }

        // MARK: - The program

        @Test func theProgramSaysWhatItIs() throws {
            let program = try Programs.path(.qoiCoder)
            let help = try CommandLineRun(program: program, ["--help"]).end()
            #expect(help.exitStatus == 0 && help.outputText.hasPrefix("qoi-coder: decodes qoi"))
            let nothing = try CommandLineRun(program: program, []).end()
            #expect(nothing.exitStatus == 64 && nothing.errorText.contains("--runtime-dir"))
            try CommandLineRun(
                program: program, ["--runtime-dir", folder.path, "--pool", "qoi"]
            ).end().expect(78, "has no pool 'qoi'")
        }
    }
}
