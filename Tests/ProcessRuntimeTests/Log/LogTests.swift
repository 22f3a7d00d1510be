import Linux
import ProcessRuntime
import Testing

@Suite struct LogTests {
    /// The output of a log.
    private func written(
        _ level: LogLevel = .info, _ format: LogFormat = .text, _ use: (Log) -> Void
    ) throws -> String {
        let pipe = try FileDescriptor.pipe()
        let reading = pipe.readEnd
        let writing = pipe.writeEnd
        use(Log(program: "test", level: level, format: format, descriptor: writing.number))
        try writing.close()
        return String(decoding: try reading.readToEnd(bytesMax: 1 << 20), as: UTF8.self)
    }

    @Test func aLineHasTimeLevelProgramMessageAndFields() throws {
        let line = try written { $0.warning("worker ended", ["pid": 12, "how": "exit 3"]) }
        let pattern = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (.*)\n/
        let rest = try #require(try pattern.wholeMatch(in: line)).output.1
        let process = CurrentProcess.processID
        #expect(rest == "warning test[\(process)]: worker ended pid=12 how=\"exit 3\"")
    }

    @Test func aJSONLineIsOneObject() throws {
        let line = try written(.info, .json) {
            $0.info("a \"quoted\"\nmessage", ["ms": 1.5, "ok": true, "n": .double(.infinity)])
        }
        let process = CurrentProcess.processID
        #expect(line.hasPrefix("{\"time\":\"2"))
        #expect(
            line.hasSuffix(
                "\"level\":\"info\",\"program\":\"test\",\"pid\":\(process),"
                    + "\"message\":\"a \\\"quoted\\\"\\nmessage\",\"ms\":1.5,\"ok\":true,"
                    + "\"n\":\"inf\"}\n"))
    }

    @Test func nothingThatIsLoggedCanForgeALine() throws {
        let hostile = "x\n2026-01-01T00:00:00.000Z error root[1]: forged\r\u{1B}[2J\u{2028}\u{0}"
        for format in LogFormat.allCases {
            let line = try written(.info, format) { $0.info(hostile, ["url": "\(hostile)"]) }
            #expect(line.utf8.filter { $0 == 0x0A }.count == 1)
            #expect(line.unicodeScalars.allSatisfy { $0.value >= 0x20 || $0 == "\n" })
            #expect(!line.unicodeScalars.contains("\u{2028}"))
            #expect(line.contains("\\u001b[2J\\u2028\\u0000"))
        }
    }

    @Test func lesserLevelsAreNeitherWrittenNorEvaluated() throws {
        var evaluated = 0
        func count() -> LogValue {
            evaluated += 1
            return 1
        }
        let lines = try written(.warning) {
            $0.debug("no", ["n": count()])
            $0.info("no", ["n": count()])
            $0.error("yes", ["n": count()])
        }
        #expect(lines.contains("yes n=1"))
        #expect(!lines.contains("no"))
        #expect(evaluated == 1)
    }

    @Test func aLineStaysOneWriteOfAPipe() throws {
        let long = String(repeating: "\u{1}ä", count: 10_000)
        let line = try written(.info, .json) {
            $0.info(long, ["a": "\(long)", "b": "\(long)", "c": "\(long)", "d": "\(long)", "e": 5])
        }
        #expect(line.utf8.count <= 4_096)
        #expect(line.hasSuffix("\"e\":5}\n"))
        #expect(line.contains("…"))
    }

    @Test func linesOfManyThreadsDoNotMix() throws {
        let pipe = try FileDescriptor.pipe()
        let reading = pipe.readEnd
        let writing = pipe.writeEnd
        let log = Log(program: "test", descriptor: writing.number)
        let text = String(repeating: "x", count: 100)
        // 4 × 60 lines of under 200 bytes fit into the pipe; lines that don't fit are dropped.
        for thread in 0..<4 {
            _ = try Thread(name: "logger") {
                for _ in 0..<60 { log.info(text, ["thread": LogValue(thread)]) }
            }
        }
        var bytes: [UInt8] = []
        let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 4_096, alignment: 1)
        defer { chunk.deallocate() }
        while bytes.filter({ $0 == 0x0A }).count < 240 {
            try #require(try reading.wait(for: .readable, milliseconds: 10_000))
            bytes.append(contentsOf: chunk[..<(try reading.read(into: chunk))])
        }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        #expect(lines.count == 240)
        #expect(lines.allSatisfy { $0.contains("]: \(text) thread=") })
        try writing.close()
    }

    @Test func aFullPipeStopsNobodyAndWhatItCostIsTold() throws {
        let pipe = try FileDescriptor.pipe()
        let reading = pipe.readEnd
        let writing = pipe.writeEnd
        let log = Log(program: "test", descriptor: writing.number)
        let text = String(repeating: "x", count: 1_000)
        // More than the default capacity of a pipe.
        for _ in 0..<1_000 { log.info(text) }
        let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 1)
        defer { chunk.deallocate() }
        var bytes: [UInt8] = []
        while try reading.wait(for: .readable, milliseconds: 0) {
            bytes.append(contentsOf: chunk[..<(try reading.read(into: chunk))])
        }
        let written = bytes.count { $0 == 0x0A }
        #expect(written > 0 && written < 1_000)
        log.info("later")
        try writing.close()
        let rest = String(decoding: try reading.readToEnd(bytesMax: 1 << 20), as: UTF8.self)
        let lines = rest.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines.first?.hasSuffix("the reader is too slow count=\(1_000 - written)") == true)
        #expect(lines.last?.hasSuffix("]: later") == true)
    }

    @Test func aLogThatNobodyReadsDoesNotStopTheWork() throws {
        let log = Log(program: "test", descriptor: 9_999)
        log.error("into nothing")
    }
}
