extension RealProcesses {
    /// The peak memory of a decoder (VmHWM), including mapped segments.
    @Suite struct PeakMemoryTests {
        private let folder = TemporaryDirectory()

        /// For a process that draws: its private memory (SandboxProfile) and its mappings:
        /// libraries, input, and the largest drawing.
        private static let drawingBytesMax: UInt64 = (512 + 64 + 64) << 20

        private static let drawing = ["--allow-private-networks", "--vector", "1"]

        /// A JPEG decoder only keeps some rows; a HEIF decoder has the whole image, as planes and
        /// as pixels.
        @Test(arguments: [
            ("jpg", (4_000, 3_000), (12_500, 8_000), UInt64(128) << 20),
            ("heic", (1_600, 1_200), (5_472, 3_648), 320 << 20),
        ])
        func aThumbnailOfALargeImageTakesNoMoreThanItsDecoderNeeds(
            name: String, short: (Int, Int), long: (Int, Int), bytesMax: UInt64
        ) async throws {
            let (width, height) = Effort.isLong ? long : short
            let bytes = try large(width, height, name)
            let origin = OriginServer("/a.\(name)", .bytes(bytes))
            try await withStack(decoders: 1) { stack in
                let process = try await decoder(stack, "decode")
                try ProcessMemory.resetPeak(of: process)
                let request = ImageRequest(origin.url("/a.\(name)"), fit: 256, format: .png)
                let end = try #require(try await stack.client().load(request).response.bytes)
                #expect(try Pixels(decoding: end.array).width == 256)
                let peak = try ProcessMemory.peakBytes(of: process)
                print("peak: \(width)x\(height) \(name) to 256: \(peak >> 20) MiB")
                #expect(peak <= bytesMax, "\(peak >> 20) MiB")
                #expect(try await decoder(stack, "decode") == process)
            }
        }

        /// References to external resources are ignored, so the drawing equals one without them.
        @Test func nothingOutsideOfADrawingIsOpened() async throws {
            let origin = OriginServer()
            let drawings = HostileDrawings.references(to: origin)
            origin.route("/secret/*", .bytes(Drawings.svgQuarters()))
            try await withClient(Self.drawing, decoders: 1) { _, client in
                for (name, bytes) in drawings {
                    origin.route("/\(name).svg", .bytes(bytes))
                    let request = ImageRequest(
                        origin.url("/\(name).svg"), fit: 64, format: .png)
                    do throws(ImageError) {
                        let produced = try await client.load(request).response.bytes?.array
                        let pixels = try? Pixels(decoding: produced ?? [])
                        let colors = Set(
                            stride(from: 0, to: pixels?.samples.count ?? 0, by: 4).map {
                                Array(pixels?.samples[$0..<($0 + 3)] ?? [])
                            })
                        #expect(colors == [[0, 0, 0]], "\(name): transparent or black")
                    } catch {
                        #expect(error.code == .badImageData, "\(name): \(error)")
                    }
                }
                #expect(origin.totalRequestCount == drawings.count, "nothing else was fetched")
            }
        }

        /// Each yields an image or an error with a name, and no drawing process exceeds its memory.
        /// Those that exhaust their CPU time are part of the long run.
        @Test(arguments: [
            ("svg", HostileDrawings.svg), ("pdf", HostileDrawings.pdf),
        ])
        func aHostileDrawingStaysWithinTheMemoryOfItsProcess(
            fileExtension: String, drawings: [(name: String, bytes: [UInt8])]
        ) async throws {
            let good = fileExtension == "svg" ? Drawings.svgQuarters() : Drawings.pdfQuarters()
            let origin = OriginServer("/good", .bytes(good))
            try await withClient(Self.drawing, decoders: 1) { stack, client in
                for (name, bytes) in drawings
                where Effort.isLong || !HostileDrawings.slow.contains(name) {
                    origin.route("/\(name).\(fileExtension)", .bytes(bytes))
                    let start = ContinuousClock.now
                    let watch = PeakWatch(stack)
                    var request = ImageRequest(
                        origin.url("/\(name).\(fileExtension)"), fit: 512, format: .png)
                    request.timeoutMilliseconds = 60_000
                    let code = await client.load(request).errorCode
                    let peak = try watch.end()
                    print(
                        "peak: \(fileExtension) \(name): \(peak >> 20) MiB, "
                            + "\(code.map { "\($0)" } ?? "image"), \(start.duration(to: .now))")
                    #expect(peak > 0 && peak <= Self.drawingBytesMax, "\(name): \(peak >> 20) MiB")
                    let wanted: [ErrorCode?] = [
                        nil, .badImageData, .limitExceeded, .poisoned,
                    ]
                    #expect(wanted.contains(code), "\(name): \(String(describing: code))")
                    let next = ImageRequest(
                        origin.url("/good"), fit: 40, format: .png, options: .fromLoaderOnly)
                    #expect(try await client.load(next).response.bytes != nil, "after \(name)")
                }
                #expect(origin.requestCount("/good") >= 1)
            }
        }

        private func decoder(_ stack: StackHarness, _ pool: String) async throws -> Int32 {
            let report = try await stack.awaitIdle()
            let found = report.processes(.decode).first { $0.pool.text == pool }
            return Int32(try #require(found).pid)
        }

        /// Created by a tool, so that this process doesn't hold the pixels.
        private func large(_ width: Int, _ height: Int, _ name: String) throws -> [UInt8] {
            let (small, file) = (folder.file("s.png"), folder.file("l.\(name)"))
            folder.write(try Images.waves(width: 1_000, height: 800).png(), to: "s.png")
            let target = name == "jpg" ? file : folder.file("l.png")
            try Tool.run(
                ["vips", "thumbnail", small, target, "\(width)", "--height", "\(height)"]
                    + ["--size", "force"])
            if name == "heic" {
                let words = ["-q", "30", "-p", "preset=ultrafast", target, "-o", file]
                let end = try CommandLineRun(program: "/usr/bin/heif-enc", words)
                    .end(timeout: .seconds(300))
                try #require(end.exitStatus == 0, "\(end)")
            }
            return try #require(FileBytes.read(file))
        }
    }
}

/// The peak memory of the drawing processes of a stack while it is watched; a process that ends is
/// replaced by another.
private final class PeakWatch {
    private let state = Monitor((isOver: false, peak: UInt64(0)))
    private let thread: BackgroundThread

    init(_ stack: StackHarness) {
        let parent = stack.processID
        for child in ObservedProcess.children(of: parent) where Self.draws(child) {
            try? ProcessMemory.resetPeak(of: child.processID)
        }
        thread = BackgroundThread { [state] in
            repeat {
                Self.look(below: parent, state)
            } while !state.wait(timeout: .milliseconds(5)) { $0.isOver }
            Self.look(below: parent, state)
        }
    }

    /// Stops watching and returns the peak.
    func end() throws -> UInt64 {
        state.withLock { $0.isOver = true }
        guard thread.join() else { throw StackFailure("nobody has looked at the memory") }
        return state.current.peak
    }

    private static func look(
        below parent: Int32, _ state: Monitor<(isOver: Bool, peak: UInt64)>
    ) {
        for child in ObservedProcess.children(of: parent) where draws(child) {
            guard let peak = try? ProcessMemory.peakBytes(of: child.processID) else { continue }
            state.withLock { $0.peak = max($0.peak, peak) }
        }
    }

    private static func draws(_ process: ObservedProcess) -> Bool {
        let line = FileBytes.read("/proc/\(process.processID)/cmdline") ?? []
        let words = String(decoding: line, as: UTF8.self)
        return words.contains("/imagebus-decode\0") && words.contains("--pool\0vector\0")
    }
}
