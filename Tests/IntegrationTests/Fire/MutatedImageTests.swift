extension RealProcesses {
    /// Images of each format with corrupted bytes.
    @Suite struct MutatedImageTests {
        /// The errors with which a load may fail. A corrupted byte may also go unnoticed; then the
        /// load succeeds. Content that crashed two decoders is poisoned.
        private static let wanted: Set<ErrorCode> = [
            .badImageData, .unsupportedFormat, .limitExceeded, .poisoned,
        ]
        /// The memory that a process may hold when idle, and at its peak: twice the pixels of the
        /// largest permitted drawing or photograph, since a header may demand them.
        private static let (idleBytesMax, peakBytesMax) = (192 << 20, 1 << 30)
        private static let loadsAtOnce = 16
        /// The images to corrupt.
        private static let sources = Result { try files() }

        @Test func everyMutationIsAnsweredAndNoFormatStopsAnother() async throws {
            let count = Effort.count("MUTATIONS", short: 500, long: 10_000)
            var random = Effort.generator("mutated images")
            let (origin, spill) = (OriginServer(), TemporaryDirectory())
            let files = try Self.sources.get()
            let start = ContinuousClock.now
            try await withClient(
                ["--allow-private-networks", "--vector", "1"], environment: ["TMPDIR": spill.path]
            ) { stack, client in
                let kinds = try await Self.kinds(stack)
                var (ends, peaks): ([String: [String: Int]], [String: UInt64]) = ([:], [:])
                for first in stride(from: 0, to: count, by: Self.loadsAtOnce) {
                    let numbers = first..<min(first + Self.loadsAtOnce, count)
                    let paths = numbers.map { number in
                        let file = files[number % files.count]
                        let path = "/\(number).\(file.name)"
                        origin.route(path, .bytes(Self.mutated(file.bytes, &random)))
                        return path
                    }
                    let tasks = paths.map { Self.load(client, origin.url($0)) }
                    for (path, task) in zip(paths, tasks) {
                        let end = await task.errorCode
                        let format = path.split(separator: ".").last.map(String.init) ?? ""
                        ends[format, default: [:]][end.map { "\($0)" } ?? "image", default: 0] += 1
                        if end == .poisoned {
                            Swift.print("mutated images: \(path) of this seed crashed decoders")
                        }
                        if let end { #expect(Self.wanted.contains(end), "\(path): \(end)") }
                        origin.route(path, .status(410))
                    }
                    let highest = peaks.values.max() ?? 0
                    Self.note(&peaks, of: stack)
                    if let peak = peaks.values.max(), peak > max(highest, 512 << 20) {
                        Swift.print("mutated images: \(paths) of this seed: \(peak >> 20) MiB")
                    }
                    #expect(spill.entries == [], "no temporary files")
                }
                for file in files {
                    origin.route("/\(file.name)", .bytes(file.bytes))
                    let end = await Self.load(client, origin.url("/\(file.name)")).errorCode
                    #expect(end == nil, "\(file.name)")
                }
                Self.note(&peaks, of: stack)
                let report = try await stack.awaitIdle()
                #expect(spill.entries == [], "no temporary files")
                #expect(try await Self.kinds(stack) == kinds, "each process or its successor runs")
                try Self.print(ends, peaks, report, stack, start.duration(to: .now))
                #expect(peaks.values.allSatisfy { $0 <= UInt64(Self.peakBytesMax) }, "\(peaks)")
                for child in stack.children {
                    let metrics = try ProcessMetrics(of: child.processID)
                    #expect(metrics.bytes <= Self.idleBytesMax, "\(child.name): \(metrics)")
                }
            }
        }

        /// The statuses of these errors over HTTP, and that of an image.
        private static let statuses: Set<Int> = [200, 415, 422]

        @Test func everyMutationIsAnsweredOverHTTP() async throws {
            let count = Effort.count("MUTATIONS", short: 120, long: 10_000)
            var random = Effort.generator("mutated images over HTTP")
            let origin = OriginServer()
            let files = try Self.sources.get()
            try await withStack(["--allow-private-networks", "--vector", "1"]) { stack in
                let gateway = try GatewayProcess(before: stack, ["--unsigned"])
                var ends: [Int: Int] = [:]
                for first in stride(from: 0, to: count, by: Self.loadsAtOnce) {
                    let asked = try (first..<min(first + Self.loadsAtOnce, count)).map { number in
                        let file = files[number % files.count]
                        origin.route("/\(number)", .bytes(Self.mutated(file.bytes, &random)))
                        let name = "\(number), \(file.name)"
                        return try AskedImage(name, origin.url("/\(number)"), gateway)
                    }
                    for image in asked {
                        let status = image.expectWholeAnswer()
                        #expect(Self.statuses.contains(status), "\(image.name): \(status)")
                        ends[status, default: 0] += 1
                    }
                }
                Swift.print("mutated images over HTTP: \(ends.sorted { $0.key < $1.key })")
                #expect(ends.values.reduce(0, +) == count)
                #expect(ends[200] ?? 0 > 0 && ends[422] ?? 0 > 0)
                for (number, file) in files.enumerated() {
                    let path = "/whole\(number)"
                    origin.route(path, .bytes(file.bytes))
                    let image = try AskedImage(file.name, origin.url(path), gateway)
                    #expect(image.expectWholeAnswer() == 200, "\(file.name)")
                }
                try await stack.awaitIdle()
            }
        }

        /// A request for a PNG of an image, on a connection of its own.
        private final class AskedImage {
            let name: String
            private let client: RawClient

            init(_ name: String, _ url: String, _ gateway: GatewayProcess) throws {
                self.name = name
                client = try gateway.connect()
                client.get("/unsafe/rs:fit:16:16/f:png/plain/\(url)")
            }

            /// Expects a complete response, and a PNG if it is an image. Returns the status.
            func expectWholeAnswer() -> Int {
                let answer = client.whole()
                #expect(answer.field("Content-Length") == "\(answer.body.count)", "\(name)")
                let isPNG = answer.body.starts(with: [0x89, 0x50, 0x4E, 0x47])
                #expect(isPNG == (answer.status == 200), "\(name): \(answer.head)")
                return answer.status
            }
        }

        /// The kind and pool of each process.
        private static func kinds(_ stack: StackHarness) async throws -> [String] {
            try await stack.awaitIdle().processes.map { "\($0.kind.name) \($0.pool.text)" }.sorted()
        }

        /// Updates the peak memory per process name; only running processes can be measured.
        private static func note(_ peaks: inout [String: UInt64], of stack: StackHarness) {
            for child in stack.children {
                guard let peak = try? ProcessMemory.peakBytes(of: child.processID) else { continue }
                peaks[child.name] = max(peaks[child.name] ?? 0, peak)
            }
        }

        private static func print(
            _ ends: [String: [String: Int]], _ peaks: [String: UInt64], _ report: StatusReport,
            _ stack: StackHarness, _ time: Duration
        ) throws {
            var all: [String: Int] = [:]
            for end in ends.values { all.merge(end) { $0 + $1 } }
            let recycled = try lines("reason=recycled", stack)
            Swift.print("mutated images: \(all.values.reduce(0, +)) in \(time)")
            Swift.print("  ends: \(all.sorted { $0.key < $1.key })")
            for (format, end) in ends.sorted(by: { $0.key < $1.key }) {
                Swift.print("  \(format): \(end.sorted { $0.key < $1.key })")
            }
            let restarts = report.processes.map { Int($0.restarts) }.reduce(0, +)
            let crashed = try lines("worker crashed or hung", stack)
            let words = "\(recycled) had done their share, \(crashed) crashed"
            Swift.print("  restarts: \(restarts), \(words)")
            #expect(crashed >= 2 * all["\(ErrorCode.poisoned)", default: 0])
            #expect(restarts <= recycled + crashed, "every lost process is logged")
            Swift.print("  peaks, MiB: \(peaks.mapValues { $0 >> 20 }.sorted { $0.key < $1.key })")
        }

        /// The number of log lines with this text.
        private static func lines(_ text: String, _ stack: StackHarness) throws -> Int {
            let log = try #require(FileBytes.text(stack.logFile)).split(separator: "\n")
            return log.count { $0.contains(text) }
        }

        private static func load(_ client: ImagebusClient, _ url: String) -> LoadTask {
            client.load(ImageRequest(url, fit: 16, format: .png))
        }

        private static func files() throws -> [(name: String, bytes: [UInt8])] {
            let folder = TemporaryDirectory()
            let image = try Images.waves(width: 96, height: 64).png()
            try #require(PNGChecksums.repaired(image) == image, "libpng has the same checksums")
            let png = folder.write(image, to: "a.png")
            let icon = folder.file("a.ico")
            try Tool.run(["icotool", "-c", "-o", icon, png])
            try Tool.run(["convert", png, "BMP3:\(folder.file("a.bmp"))"])
            let others = try ["ico", "bmp"].map { name in
                (name, try #require(FileBytes.read(folder.file("a.\(name)"))))
            }
            let drawings = [("svg", Drawings.svgQuarters()), ("pdf", Drawings.pdfQuarters())]
            let coded = try ["jpg", "png", "webp", "gif", "tif", "heic", "avif", "jxl"].map {
                name in
                let file = folder.file("b.\(name)")
                let isHEIF = name == "heic" || name == "avif"
                try Tool.run(["vips", "copy", png, file + (isHEIF ? "[effort=0]" : "")])
                return (name, try #require(FileBytes.read(file)))
            }
            return try coded + others + drawings + smallFixtures()
        }

        /// Images of other origin, if there are fixtures: progressive, interlaced, with a palette,
        /// with 16 bits, animated.
        private static func smallFixtures() throws -> [(name: String, bytes: [UInt8])] {
            try ["images", "images/webpcoder"].flatMap { folder in
                let path = Fixtures.path(folder) ?? ""
                return try DirectoryEntries.names(path).compactMap {
                    (name) -> (name: String, bytes: [UInt8])? in
                    // Folders have no dot in their name.
                    guard name.contains(".") else { return nil }
                    let bytes = try #require(Fixtures.bytes("\(folder)/\(name)"))
                    return bytes.count <= 64 << 10 ? (name, bytes) : nil
                }
            }
        }

        /// Changes a few bytes, and truncates one file in four. The checksums of most PNG files are
        /// repaired, because otherwise decoders wouldn't look at the rest.
        private static func mutated(
            _ bytes: [UInt8], _ random: inout SeededGenerator
        ) -> [UInt8] {
            var bytes = bytes
            // The signature mostly stays intact, so that the format is recognized.
            let first = random.happens(10) ? 0 : 16
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                let place = Int.random(in: first..<bytes.count, using: &random)
                bytes[place] = UInt8.random(in: 0...255, using: &random)
            }
            if bytes.starts(with: [0x89, 0x50]), random.happens(80) {
                bytes = PNGChecksums.repaired(bytes)
            }
            guard random.happens(25) else { return bytes }
            return Array(bytes.prefix(Int.random(in: 17..<bytes.count, using: &random)))
        }
    }
}
