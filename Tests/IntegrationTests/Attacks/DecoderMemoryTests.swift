extension RealProcesses {
    /// A small file whose decoder would allocate more memory than permitted (SEMANTICS §9.8), and
    /// content whose decoders disappear (SEMANTICS §7.5).
    @Suite struct DecoderMemoryTests {
        private let origin = OriginServer()

        @Test(arguments: [true, false])
        func aFileThatTakesTooMuchMemoryIsRefusedAndNoDecoderIsLost(inGroup: Bool) async throws {
            origin.route("/bad/*", .bytes(LargeJXL.file, contentType: "image/jxl"))
            let photo = try Images.photo()
            origin.route("/good/*", .jpeg(photo))
            try await withStack(decoders: 1) { stack in
                let memory = inGroup ? try ShippedMemory(stack) : nil
                let decoder = try #require(stack.processes("decode").first)
                let client = try stack.client()
                for number in 0..<4 {
                    let bad = client.load(ImageRequest(origin.url("/bad/\(number)"), fit: 100))
                    let good = client.load(ImageRequest(origin.url("/good/\(number)"), fit: 100))
                    let error = await bad.failure
                    #expect(error?.code == .limitExceeded, "\(String(describing: error))")
                    #expect(error?.details["limit"] == "decoderMemory")
                    #expect(try await good.response.info?.size == PixelSize(width: 100, height: 75))
                }
                let report = try await stack.awaitStatus("the decoder") {
                    !$0.processes(.decode).isEmpty
                }
                #expect(report.processes(.decode).map { Int32($0.pid) } == [decoder.processID])
                #expect(report.processes(.decode).first?.restarts == 0)
                memory?.expectNoKills()
            }
        }

        /// A format, the libvips options that create an image in it, and its coding.
        private static let forms: [(name: String, options: String, DecoderMemoryRows.Coding)] = [
            ("jpg", "", .streamed), ("jpg", "interlace", .whole), ("png", "", .streamed),
            ("png", "interlace", .whole), ("gif", "effort=1", .streamed),
            ("webp", "effort=0", .streamed), ("webp", "lossless,effort=0", .streamed),
            ("tif", "tile,compression=jpeg", .streamed), ("avif", "effort=0", .streamed),
            ("heic", "effort=0", .streamed), ("bmp", "", .streamed),
            ("jxl", "effort=3", .streamed), ("jxl", "lossless,effort=3", .whole),
        ]

        /// The table of SECURITY.md: the growth of the decode process' private memory. The long run
        /// uses images at the limit of pixels, or at what the table permits, and HEIC, which is
        /// slow to write.
        @Test func decodersTakeNoMoreThanTheTableSays() async throws {
            let pixelsMax = Effort.count("DECODER_PIXELS", short: 8_000_000, long: 100_000_000)
            let folder = TemporaryDirectory()
            let limits = ["--allow-private-networks", "--body-limit", "256M"]
            try await withStack(limits, decoders: 1) { stack in
                let decoder = try #require(stack.processes("decode").first)
                for (number, form) in Self.forms.enumerated()
                where Effort.isLong || form.name != "heic" {
                    let format = try #require(ImageFormat(fileExtension: form.name))
                    let row = try #require(format.traits.input?.memory)[form.2]
                    let each = max(1, row.bytes(pixels: 1, channels: 3, sampleBytes: 1))
                    // A BMP has three bytes per pixel, and a file may have 256 MiB.
                    let most = form.name == "bmp" ? 80_000_000 : pixelsMax
                    let pixels = min(pixelsMax, most, ImageLimits.decoderBytesMax / each)
                    let side = Int(Double(pixels).squareRoot())
                    let bytes = try Self.image(form.name, form.options, side: side, in: folder)
                    origin.route("/\(number)", .bytes(bytes))
                    let taken = try await memory(of: decoder) {
                        let line = [
                            origin.url("/\(number)"), "--crop-to", "50x50", "--timeout", "2m",
                        ]
                        let end = try stack.get(
                            line + ["-o", folder.file("part.png")], timeout: .seconds(150))
                        #expect(end.exitStatus == 0, "\(form): \(end)")
                    }
                    let allowed = row.bytes(pixels: side * side, channels: 3, sampleBytes: 1)
                    print(
                        "\(form.name) \(form.options) of \(side)²: \(taken >> 20) MiB, "
                            + "\(allowed >> 20) in the table")
                    #expect(taken <= allowed + Self.rowBuffers, "\(form)")
                }
            }
        }

        /// A photo-like image of that size, written by libvips.
        private static func image(
            _ name: String, _ options: String, side: Int, in folder: TemporaryDirectory
        ) throws -> [UInt8] {
            let (base, file) = (folder.file("base.v"), folder.file("large.\(name)"))
            let small = folder.write(try Images.noise(width: 100, height: 100).png(), to: "a.png")
            try Tool.run(["vips", "resize", small, base, "\(Double(side) / 100)"])
            if name == "bmp" {
                try Tool.run(["vips", "magicksave", base, file, "--format", "bmp"])
            } else {
                let suffix = options.isEmpty ? "" : "[\(options)]"
                try Tool.run(["vips", "copy", base, file + suffix])
            }
            return try #require(FileBytes.read(file))
        }

        /// The row buffers that libvips keeps for any image, and thread stacks.
        private static let rowBuffers = 64 << 20

        /// The growth of VmData during `body`.
        private func memory(
            of process: ObservedProcess, while body: () throws -> Void
        ) async throws -> Int {
            let number = process.processID
            let before = Self.privateBytes(of: number)
            let isOver = Gate()
            let watch = Task.detached {
                var most = 0
                while !isOver.isOpen {
                    most = max(most, Self.privateBytes(of: number))
                    try? await Task.sleep(for: .milliseconds(2))
                }
                return most
            }
            defer { isOver.open() }
            try body()
            isOver.open()
            return await watch.value - before
        }

        /// The memory that counts towards the limit of data.
        static func privateBytes(of process: Int32) -> Int {
            let status = FileBytes.text("/proc/\(process)/status") ?? ""
            let line = status.split(separator: "\n").first { $0.hasPrefix("VmData:") }
            let words = line?.split { $0 == " " || $0 == "\t" } ?? []
            return words.count > 1 ? (Int(words[1]) ?? 0) << 10 : 0
        }

        /// libavif allocates the size that an item of the file states, and aborts if it can't.
        @Test func anItemOfMoreBytesThanAFileMayHaveCostsNoDecoder() async throws {
            let folder = TemporaryDirectory()
            var file = try Self.image("avif", "effort=0", side: 64, in: folder)
            let box = try #require(file.firstRange(of: Array("iloc".utf8))?.lowerBound) - 4
            let bytes = file[box..<box + 4].reduce(0) { $0 << 8 | Int($1) }
            // The last number of the box is the length of the last extent.
            file.replaceSubrange(box + bytes - 4..<box + bytes, with: [0x51, 0, 0, 0])
            origin.route("/item.avif", .bytes(file, contentType: "image/avif"))
            try await withStack { stack in
                let load = try stack.client().load(ImageRequest(url: origin.url("/item.avif")))
                let code = await load.errorCode
                #expect(code == nil || code == .badImageData)
                let report = try await stack.awaitIdle()
                #expect(report.processes(.decode).allSatisfy { $0.restarts == 0 })
            }
        }

        @Test func contentThatLosesItsDecoderTwiceIsQuarantined() async throws {
            let photo = try Images.photo()
            origin.route("/*", .jpeg(photo))
            try await withClient(decoders: 2) { stack, client in
                let before = try await stack.awaitStatus("two decoders") {
                    $0.processes(.decode).count { $0.state == "ready" } == 2
                }
                let decoders = stack.processes("decode")
                for decoder in decoders { try decoder.halt() }
                let bad = client.load(ImageRequest(origin.url("/bad.jpg"), fit: 100))
                var killed: Set<UInt32> = []
                for _ in decoders {
                    let report = try await stack.awaitStatus("a job at a halted decoder") {
                        $0.processes(.decode).contains {
                            $0.state == "busy" && !killed.contains($0.pid)
                        }
                    }
                    let busy = report.processes(.decode).first {
                        $0.state == "busy" && !killed.contains($0.pid)
                    }
                    let pid = try #require(busy?.pid)
                    killed.insert(pid)
                    // Killing a decoder that has just started is not evidence (SEMANTICS §7.5).
                    try await Task.sleep(for: .milliseconds(300))
                    try #require(decoders.first { $0.processID == Int32(pid) }).kill()
                }
                #expect(killed == Set(before.processes(.decode).map(\.pid)))
                #expect(await bad.errorCode == .poisoned)
                for number in 0..<4 {
                    let good = client.load(ImageRequest(origin.url("/\(number).jpg"), fit: 100))
                    #expect(try await good.response.info?.size == PixelSize(width: 100, height: 75))
                }
                let again = client.load(ImageRequest(origin.url("/bad.jpg"), fit: 90))
                #expect(await again.errorCode == .poisoned)
            }
        }
    }
}
