import Linux
import Testing

@Suite struct ProcessTests {
    @Test func timeDoesNotGoBack() {
        var last = MonotonicClock.now()
        for _ in 0..<1_000 {
            let now = MonotonicClock.now()
            #expect(now >= last)
            last = now
        }
        // 2024-01-01 to 2100-01-01.
        #expect((1_704_067_200..<4_102_444_800).contains(WallClock.seconds()))
    }

    @Test func randomBytesDiffer() {
        let draws = Set((0..<100).map { _ in Random.uint64() })
        #expect(draws.count == 100)
        #expect(Random.bytes(count: 1_000).count == 1_000)
        #expect(Set(Random.bytes(count: 4_096)).count > 200)
        #expect(Random.bytes(count: 0).isEmpty)
    }

    @Test func whoCannotBecomeAnotherProgramGoesOn() {
        #expect(CurrentProcess.become("/nowhere/program", ["a"]) == .noSuchFile)
        #expect(CurrentProcess.become("/etc", []) == .accessDenied)
    }

    @Test func aThreadRunsUnderItsName() throws {
        let box = NameBox()
        let thread = try Thread(name: "a-name-of-more-than-15") { box.name = box.readName() }
        thread.join()
        #expect(box.name == "a-name-of-more-\n")
    }

    @Test func theExecutableIsAFileThatRuns() throws {
        let path = try CurrentProcess.executablePath()
        let status = try FileDescriptor.open(path).status()
        #expect(status.type == .regular)
        #expect(status.mode & 0o100 != 0)
    }

    @Test func theEnvironmentIsTheProcesssOwn() throws {
        let path = try #require(CurrentProcess.environment("PATH"))
        #expect(CurrentProcess.environment["PATH"] == path)
        #expect(CurrentProcess.environment("NOBODY_SETS_THIS") == nil)
        #expect(CurrentProcess.processorCount >= 1)
        #expect(CurrentProcess.processID != CurrentProcess.parentID)
    }

    @Test func aTemporaryDirectoryGoesWithItsValue() throws {
        let path: String
        do {
            let directory = try TemporaryDirectory()
            path = directory.path
            let opened = try FileDescriptor.openDirectory(path)
            #expect(try opened.status().mode == 0o700)
            _ = try opened.open("file", [.create, .writeOnly])
        }
        #expect(throws: Errno.noSuchFile) { _ = try FileDescriptor.openDirectory(path) }
    }
}

/// Written by one thread, read after it has been joined.
private final class NameBox: @unchecked Sendable {
    var name = ""

    func readName() -> String {
        let bytes = try? FileDescriptor.open("/proc/thread-self/comm").readToEnd(bytesMax: 64)
        return String(decoding: bytes ?? [], as: UTF8.self)
    }
}
