extension RealProcesses {
    @Suite struct BenchTests {
        /// One second per kind of work: checks that there are measurements, not their values.
        @Test func cancelIsMeasuredInEveryStage() throws {
            let report = try measured(["cancel", "--seconds", "1"], timeout: .seconds(300))
            let stages = try #require(report["stages"]?.array)
            #expect(stages.count == 7)
            let works = stages.compactMap { $0["work"]?.text }
            #expect(works.first == "download" && works.last == "encode WebP")
            #expect((stages.first?["cancels"]?.integer ?? 0) > 0, "\(report)")
            for stage in stages { #expect(stage["verdict"]?.text != nil) }
        }

        /// A short run of each: checks that all loads were hits, not how many there were.
        @Test(arguments: [1, 16]) func hitsAreMeasured(concurrency: Int) throws {
            let report = try measured(
                ["hit", "--seconds", "1", "--concurrency", "\(concurrency)"],
                timeout: .seconds(60))
            let requests = try #require(report["requests"]?.integer)
            #expect(requests > concurrency)
            #expect((report["bytes"]?.integer ?? 0) / requests > 20_000)
            #expect(report["coordinator_us"] != nil && report["client_us"] != nil)
            #expect((report["async"]?["requests"]?.integer ?? 0) > concurrency)
        }

        @Test func anImageThatIsNotKeptIsNoHit() throws {
            let run = try CommandLineRun([
                "bench", "hit", "--private", "--seconds", "1", "--context",
                "store-cache-type=none",
            ])
            #expect(try run.end(timeout: .seconds(60)).exitStatus == 64)
        }

        @Test func theCommandIsTheProgramBesideIt() throws {
            let program = try Programs.path(.bench)
            for arguments in [["--help"], ["--version"], ["sleep"], ["hit", "--wobble", "2"], []] {
                let command = try CommandLineRun(["bench"] + arguments).end()
                let own = try CommandLineRun(program: program, arguments).end()
                #expect(command.output == own.output && command.errorText == own.errorText)
                #expect(command.exitStatus == own.exitStatus)
                #expect(!(own.output.isEmpty && own.errorText.isEmpty))
            }
        }

        @Test func whereTheProgramIsMissingTheCommandSaysWhatToDo() throws {
            let folder = TemporaryDirectory()
            try CommandLineRun(
                program: "/bin/cp", [Programs.path(.imagebus), folder.path]
            ).end().expect(0)
            let end = try CommandLineRun(program: folder.file("imagebus"), ["bench", "hit"]).end()
            #expect(end.exitStatus == 69)
            #expect(
                end.errorText.contains("imagebus bench: ") && end.errorText.contains("install"),
                "\(end)")
        }

        /// A short run: checks that there are measurements, not their values.
        private func measured(
            _ arguments: [String], timeout: Duration = .seconds(120)
        ) throws -> JSONValue {
            let run = try CommandLineRun(["bench"] + arguments + ["--private", "--json"])
            let end = try run.end(timeout: timeout).expect(0)
            let report = try end.json()
            #expect(report["name"]?.text == arguments.first)
            #expect(report["errors"]?.integer == 0, "\(end)")
            return report
        }

        @Test func coldImagesAreMeasured() throws {
            let report = try measured([
                "cold", "--seconds", "1", "--resize", "64x64", "--format", "png",
            ])
            #expect((report["requests"]?.integer ?? 0) > 0)
            #expect((report["bytes_each"]?.integer ?? 0) > 1_000)
            for kind in ["coordinator", "download", "decode", "transform", "client"] {
                #expect(report["cpu_us"]?[kind] != nil, "\(kind)")
            }
            #expect(report["timings_ms"]?["decode"] != nil)
        }

        @Test func aStormIsOneTransferAndRightForAll() throws {
            let report = try measured(["storm", "--concurrency", "300"])
            #expect(report["right"]?.integer == 300)
            #expect(report["gets"]?.integer == 1, "\(report)")
            #expect(report["decodes"]?.integer == 1, "\(report)")
            #expect(report["many"]?["right"]?.integer == 300)
            #expect(report["many"]?["gets"]?.integer == 30, "\(report)")
            #expect((report["memory"]?.array?.count ?? 0) > 4)
        }

        @Test func aMixIsMeasured() throws {
            let report = try measured(["mixed", "--seconds", "30", "--requests", "200"])
            let requests = try #require(report["requests"]?.integer)
            #expect(requests >= 200 && requests < 300, "the number of requests ends the run")
            #expect(report["shares"]?.array?.compactMap { $0["work"]?.text }.count == 4)
        }

        @Test func playersAreMeasured() throws {
            let file = try AnimatedFile(generated: "mixed.webp")
            let origin = OriginServer("/a.webp", .bytes(file.bytes))
            let report = try measured([
                "play", origin.url("/a.webp"), "--allow-address", origin.authority, "--seconds",
                "1",
            ])
            #expect(report["players"]?.integer == 2)
            #expect(report["frames"]?.integer == file.frames.count)
            let animations = try #require(report["animations"]?.integer)
            #expect(report["requests"]?.integer == 2 * animations * file.frames.count)
            #expect((report["again"]?["requests"]?.integer ?? 0) > 0)
            // Both players share each frame; reading the properties of an animation takes one more
            // decode.
            #expect(
                report["decodes"]?.integer == animations * (file.frames.count + 1), "\(report)")
        }

        @Test func playIsToldWhatItPlays() throws {
            let end = try CommandLineRun(["bench", "play", "--private"]).end(timeout: .seconds(60))
            end.expect(64, "requires the URL of an animation")
        }

        @Test func anOriginThatIsNotThereEndsTheMeasurement() throws {
            let closed = OriginServer()
            closed.stop()
            let run = try CommandLineRun([
                "bench", "cancel", closed.url("/a.jpg"), "--private", "--allow-address",
                closed.authority, "--seconds", "1",
            ])
            #expect(try run.end(timeout: .seconds(60)).exitStatus == 75)
        }
    }
}
