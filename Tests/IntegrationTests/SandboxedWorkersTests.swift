extension RealProcesses {
    /// Decode and transform workers have closed their listeners before their first job.
    @Suite struct SandboxedWorkersTests {
        private static let kinds: [WorkerKind] = [.decode, .transform]

        @Test func workersReportEveryLayerThatThisKernelHas() async throws {
            try await withStack { stack in
                let answer = try stack.run(["status", "--json"]).json()
                let processes = try #require(answer["processes"]?.array)
                for process in processes {
                    let kind = try #require(process["kind"]?.text.flatMap(WorkerKind.init(name:)))
                    let layers = process["sandbox"]?.array?.compactMap(\.text)
                    #expect(layers == (Self.kinds.contains(kind) ? Self.layersOfKernel : []))
                }
                let table = try stack.run(["status", "--all"]).outputText
                #expect(table.contains("noNewPrivileges,rlimits"))
            }
        }

        @Test func theKernelSaysTheSameOfEveryThread() async throws {
            try await withStack { stack in
                let workers = Self.kinds.flatMap { stack.processes($0.name) }
                #expect(workers.count == 4)
                for worker in workers {
                    let threads = DirectoryEntries.names("/proc/\(worker.processID)/task")
                    #expect(threads.count > 2)
                    for thread in threads {
                        let path = "/proc/\(worker.processID)/task/\(thread)/status"
                        let fields = (FileBytes.text(path) ?? "").split(separator: "\n")
                        #expect(fields.contains("Seccomp:\t2"))
                        #expect(fields.contains("NoNewPrivs:\t1"))
                    }
                }
            }
        }

        /// By default libvips would load all of its modules, including ImageMagick.
        @Test func workersHaveOnlyTheModulesOfTheirFormats() async throws {
            let permitted: [WorkerKind: [Set<String>]] = [
                .decode: [["vips-heif.so", "vips-jxl.so"], ["vips-poppler.so"]],
                .transform: [["vips-jxl.so"]],
            ]
            try await withStack(["--allow-private-networks", "--vector", "1"]) { stack in
                for kind in Self.kinds {
                    let workers = stack.processes(kind.name)
                    #expect(workers.count == (kind == .decode ? 3 : 2))
                    for worker in workers {
                        // libvips may also have them built in.
                        let found = Self.modules(of: worker.processID)
                        let isWithin = permitted[kind]?.contains { found.isSubset(of: $0) }
                        #expect(isWithin == true, "\(worker.name): \(found)")
                    }
                }
            }
        }

        private static func modules(of process: ProcessID) -> Set<String> {
            let maps = FileBytes.text("/proc/\(process)/maps") ?? ""
            let files = maps.split(separator: "\n").filter { $0.contains("/vips-modules-") }
            return Set(files.compactMap { $0.split(separator: "/").last.map(String.init) })
        }

        @Test(arguments: ImageFormat.encodable)
        func imagesOfEveryFormatAreMadeOfEveryFormat(_ target: ImageFormat) async throws {
            let waves = Images.waves(width: 400, height: 300)
            let origin = OriginServer("/a.jpg", .bytes(try waves.jpeg(quality: 85)))
            origin.route("/a.png", .bytes(try waves.png()))
            origin.route("/a.webp", .bytes(try waves.webp(quality: 85)))
            try await withClient(decoders: 1) { _, client in
                for name in ["a.jpg", "a.png", "a.webp"] {
                    let request = ImageRequest(origin.url("/\(name)"), fit: 100, format: target)
                    let response = try await client.load(request).response
                    #expect(response.info?.size == PixelSize(width: 100, height: 75))
                    #expect(response.info?.format == target)
                }
            }
        }

        /// The decoders of these files start threads of their own.
        @Test func filesOfOtherEncodersAreDecoded() async throws {
            let folder = TemporaryDirectory()
            let image = Images.quadrants(width: 1200, height: 900)
            let png = folder.write(try image.png(), to: "a.png")
            let origin = OriginServer()
            try await withClient(decoders: 1) { stack, client in
                let before = Set(stack.children.map(\.processID))
                for (format, options) in [
                    ("tif", ""), ("heic", "[effort=0]"), ("avif", "[effort=0]"), ("jxl", ""),
                ] {
                    let file = folder.file("a.\(format)")
                    try Tool.run(["vips", "copy", png, file + options])
                    let bytes = try #require(FileBytes.read(file))
                    origin.route("/\(format)", .bytes(bytes))
                    let request = ImageRequest(origin.url("/\(format)"), fit: 40, format: .png)
                    let response = try await client.load(request).response
                    let pixels = try Pixels(decoding: #require(response.bytes?.array))
                    #expect(pixels.size == "40x30")
                    for (x, y, color) in [(4, 4, Images.red), (35, 25, Images.yellow)] {
                        let near = zip(pixels.at(x, y), color).allSatisfy {
                            abs(Int($0) - Int($1)) < 12
                        }
                        #expect(near, "\(format): \(pixels.at(x, y))")
                    }
                }
                #expect(Set(stack.children.map(\.processID)) == before)
            }
        }

        /// 108 MB of pixels, for which libvips would use a temporary file by default; the sandbox
        /// doesn't permit that.
        @Test func anImageOfManyPixelsNeedsNoFile() async throws {
            let origin = OriginServer("/a.webp", .bytes(try Images.largeWebP(side: 6000)))
            try await withStack(decoders: 1) { stack in
                var request = ImageRequest(url: origin.url("/a.webp"))
                let part = PixelSize(width: 60, height: 40)
                request.steps = [.crop(PixelRect(x: 2970, y: 2980, size: part))]
                request.output.format = .png
                let response = try await stack.client().load(request).response
                let pixels = try Pixels(decoding: #require(response.bytes?.array))
                #expect(pixels.size == "60x40")
                for (x, y, color) in [
                    (0, 0, Images.red), (59, 0, Images.green), (0, 39, Images.blue),
                    (59, 39, Images.yellow),
                ] {
                    #expect(pixels.at(x, y) == color)
                }
            }
        }

        @Test func theSameWorkersGoOnWithANewCoordinator() async throws {
            let image = try Images.photo()
            let origin = OriginServer("/a.jpg", .jpeg(image))
            try await withStack(decoders: 1) { stack in
                let before = try await stack.awaitStatus("the stack") { _ in true }
                let pid = try #require(before.processes(.coordinator).first?.pid)
                let coordinator = stack.children.first { $0.processID == Int32(pid) }
                try #require(coordinator).kill()
                let after = try await stack.awaitStatus("all processes, again") {
                    $0.processes.count == before.processes.count
                        && $0.processes(.coordinator).first?.pid != pid
                }
                for kind in Self.kinds {
                    #expect(after.processes(kind).map(\.pid) == before.processes(kind).map(\.pid))
                    #expect(after.processes(kind).map(\.sandbox.names) == [Self.layersOfKernel])
                }
                let got = try stack.get([origin.url("/a.jpg"), "--resize", "100x100", "--json"])
                #expect(try got.json()["width"]?.integer == 100)
            }
        }

        /// Runs a process in the sandbox of each kind, with the directory of a running stack, that
        /// tries to read the secret of `admin/`. Its user may read it: this process does.
        @Test(.enabled(if: Self.hasLandlock, "this kernel has no Landlock"))
        func theSecretOfOperatorsIsClosedToThem() async throws {
            try await withStack(decoders: 1) { stack in
                let secret = FileBytes.read("\(stack.runtimeDirectory)/admin/secret")
                #expect(secret?.count == ListenerSecret.byteCount)
                for kind in Self.kinds {
                    let lines = try probe(kind, in: stack.runtimeDirectory)
                    #expect(lines.contains("read-admin-secret denied EACCES"), "\(lines)")
                    #expect(lines.filter { $0.contains("ALLOWED") } == [])
                }
            }
        }

        /// The output of `sandbox-probe`, without the files that it leaves.
        private func probe(_ kind: WorkerKind, in runtimeDirectory: String) throws -> [String] {
            let folder = TemporaryDirectory()
            let tests = try CurrentProcess.executablePath()
            let programs = tests[..<(tests.lastIndex(of: "/") ?? tests.startIndex)]
            var command = ChildCommand(
                "\(programs)/sandbox-probe",
                ["--kind", kind.name, "--runtime-dir", runtimeDirectory])
            let output = try FileDescriptor.open(folder.file("out"), [.writeOnly, .create])
            command.descriptors[1] = .descriptor(output.number)
            let status = try ChildProcess(command).wait(milliseconds: 30_000)
            #expect(status == .exited(0))
            for kind in WorkerKind.allCases {
                let path = "\(runtimeDirectory)/arena/\(kind.name)"
                try? FileDescriptor.openDirectory(path).unlink("sandbox-probe.file")
            }
            let text = FileBytes.text(folder.file("out")) ?? ""
            return text.split(separator: "\n").map(String.init)
        }

        private static var hasLandlock: Bool {
            do {
                _ = try LandlockRuleset()
                return true
            } catch {
                return false
            }
        }

        private static var layersOfKernel: [String] {
            var layers: SandboxLayers = [.noNewPrivileges, .resourceLimits, .seccomp]
            if hasLandlock { layers.insert(.landlock) }
            return layers.names
        }
    }
}
