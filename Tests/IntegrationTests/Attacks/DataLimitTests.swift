extension RealProcesses {
    /// The kernel's limit of a decoder's private memory (RLIMIT_DATA), in case the estimate from an
    /// image's header is too low.
    @Suite struct DataLimitTests {
        private let origin = OriginServer()

        @Test func eachDecoderHasTheLimitOfItsPool() async throws {
            try await withStack(["--vector", "1"], decoders: 1) { stack in
                let report = try await stack.awaitStatus("a decoder of each pool") {
                    $0.processes(.decode).count == 2
                }
                for process in report.processes(.decode) {
                    let isVector = process.pool.text == "vector"
                    let bytes: UInt64 = isVector ? 512 << 20 : ImageLimits.processBytesMax
                    let limits = Self.limits(of: Int32(process.pid))
                    #expect(limits == ["\(bytes)", "\(bytes)"], "\(process.pool.text)")
                }
            }
            // An allocation fails before the kernel kills the process.
            #expect(try ShippedMemory.bytes(of: "decode") > ImageLimits.processBytesMax)
        }

        /// The limit of a running decoder is lowered, as the table refuses images that reach the
        /// usual one.
        @Test func anImageBeyondTheLimitIsRefusedAndItsDecoderIsNotLost() async throws {
            origin.route("/large.jpg", .jpeg(try Self.progressive()))
            let small = try Images.photo()
            origin.route("/small/*", .jpeg(small))
            try await withClient(decoders: 1) { stack, client in
                let decoder = try #require(stack.processes("decode").first)
                let before = client.load(ImageRequest(origin.url("/small/1"), fit: 100))
                #expect(await before.errorCode == nil)
                let used = DecoderMemoryTests.privateBytes(of: decoder.processID)
                let bytes = used + Self.spareBytes
                try Tool.run(["prlimit", "--pid", "\(decoder.processID)", "--data=\(bytes)"])
                #expect(Self.limits(of: decoder.processID) == ["\(bytes)", "\(bytes)"])
                let large = client.load(ImageRequest(origin.url("/large.jpg"), fit: 100))
                #expect(await large.errorCode == .limitExceeded)
                let after = client.load(ImageRequest(origin.url("/small/2"), fit: 100))
                #expect(await after.errorCode == nil)
                let report = try await stack.awaitIdle()
                #expect(report.processes(.decode).map { Int32($0.pid) } == [decoder.processID])
                #expect(report.counter("crashes") == 0)
            }
        }

        /// Half of the memory for the luma coefficients of `progressive`, which libjpeg allocates
        /// at once.
        private static let spareBytes = 16 << 20

        /// A black JPEG of 16 megapixels in several scans, so that its decoder keeps two bytes per
        /// sample.
        private static func progressive() throws -> [UInt8] {
            let folder = TemporaryDirectory()
            let file = folder.file("large.jpg")
            try Tool.run(["vips", "black", "\(file)[interlace]", "4000", "4000", "--bands", "3"])
            return try #require(FileBytes.read(file))
        }

        /// The soft and the hard limit, in bytes or `unlimited`.
        private static func limits(of process: Int32) -> [String] {
            let name = "Max data size"
            let text = FileBytes.text("/proc/\(process)/limits") ?? ""
            let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
            let words = line?.dropFirst(name.count).split(separator: " ") ?? []
            return words.prefix(2).map(String.init)
        }
    }
}
