extension RealProcesses {
    /// A worker that doesn't find a coordinator is supervised, and its files are removed
    /// completely.
    @Suite struct LonelyWorkerTests {
        @Test func oneThatIsKilledLeavesNothing() throws {
            let serve = try LoggedServe(["--only", "decode", "--decode", "1"])
            let first = try serve.processID(in: serve.line("is connecting to its coordinator"))
            #expect(serve.pages.count == 1)
            try Signal.kill.send(to: first)
            let second = try serve.processID(in: serve.line("is connecting to its coordinator"))
            #expect(second != first)
            _ = try serve.line("removed 1 segments of a dead decode process")
            #expect(serve.pages.count == 1, "the second decoder's page")
        }

        /// Takes five checks of `serve`.
        @Test(.enabled(if: Effort.isLong)) func oneThatHaltsIsKilledAndReplaced() throws {
            let serve = try LoggedServe(["--only", "decode", "--decode", "1"])
            let first = try serve.processID(in: serve.line("is connecting to its coordinator"))
            try Signal.stop.send(to: first)
            _ = try serve.line("decode \(first) does not respond: killed")
            _ = try serve.line("removed 1 segments of a dead decode process")
            #expect(serve.pages.count == 1)
        }
    }
}

/// `serve` without a coordinator, whose log the test reads. It is killed when the last reference is
/// released.
private final class LoggedServe {
    private let memory: Linux.TemporaryDirectory
    private let process: ChildProcess
    private let log: FileDescriptor
    private var unread: [UInt8] = []

    init(_ arguments: [String]) throws {
        memory = try Linux.TemporaryDirectory(in: "/dev/shm", prefix: "ib-")
        let pipe = try FileDescriptor.pipe()
        var command = try ChildCommand(
            Programs.path(.imagebus),
            ["serve", "--runtime-dir", memory.path, "--log-level", "debug"] + arguments)
        command.descriptors[1] = .null
        command.descriptors[2] = .descriptor(pipe.writeEnd.number)
        process = try ChildProcess(command)
        log = pipe.readEnd
    }

    /// The control pages of decoders.
    var pages: [String] {
        DirectoryEntries.names("\(memory.path)/back/decode/control").filter { !$0.hasPrefix(".") }
    }

    /// The next line that contains `words`; earlier lines are dropped.
    func line(_ words: String) throws -> String {
        while true {
            while let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: unread[..<end], as: UTF8.self)
                unread.removeFirst(end + 1)
                if line.contains(words) { return line }
            }
            try readMore(for: words)
        }
    }

    private func readMore(for words: String) throws {
        let limit = StackHarness.timeout.milliseconds
        guard try log.wait(for: .readable, milliseconds: limit) else {
            throw StackFailure("serve did not say '\(words)' within \(limit) ms")
        }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4_096, alignment: 16)
        defer { buffer.deallocate() }
        let count = try log.read(into: buffer)
        guard count > 0 else { throw StackFailure("serve ended before it said '\(words)'") }
        unread += buffer[..<count]
    }

    /// The process id in `… decode NUMBER looks for …`.
    func processID(in line: String) throws -> ProcessID {
        let words = line.split(separator: " ")
        let place = try #require(words.firstIndex { $0.hasSuffix("decode") })
        return try #require(ProcessID(words[place + 1]))
    }
}
