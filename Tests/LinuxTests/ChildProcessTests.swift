import Glibc
import Linux
import Testing

@Suite struct ChildProcessTests {
    /// The output of a shell and how it ended.
    private func shell(
        _ script: String, _ change: (inout ChildCommand) -> Void = { _ in }
    ) throws -> (output: String, status: ChildStatus) {
        let pipe = try FileDescriptor.pipe()
        let reading = pipe.readEnd
        let writing = pipe.writeEnd
        var command = ChildCommand("/bin/sh", ["-c", script])
        command.descriptors[1] = .descriptor(writing.number)
        change(&command)
        let child = try ChildProcess(command)
        try writing.close()
        let output = try reading.readToEnd(bytesMax: 65_536)
        return (String(decoding: output, as: UTF8.self), try child.wait())
    }

    @Test func exitCodesAndSignalsAreToldApart() throws {
        #expect(try shell("exit 7").status == .exited(7))
        let killed = try shell("kill -KILL $$").status
        #expect(killed == .signaled(.kill, dumpedCore: false))
        #expect(try shell("exit 0").status.isSuccess)
    }

    @Test func aMissingExecutableIsATypedError() {
        #expect(throws: Errno.noSuchFile) {
            _ = try ChildProcess(ChildCommand("/nowhere/at-all"))
        }
        #expect(throws: Errno.invalidArgument) {
            _ = try ChildProcess(ChildCommand("/bin/true", ["a\0b"]))
        }
    }

    @Test func argumentsAndEnvironmentAreExactlyThoseGiven() throws {
        let result = try shell("/usr/bin/env; pwd") {
            $0.environment = ["ONLY": "this = that"]
            $0.workingDirectory = "/usr"
        }
        let lines = Set(result.output.split(separator: "\n").map(String.init))
        #expect(lines.contains("ONLY=this = that"))
        #expect(lines.contains("/usr"))
        #expect(!lines.contains { $0.hasPrefix("HOME=") })
    }

    @Test func noDescriptorIsInherited() throws {
        // Without close-on-exec, as a careless library would leave it.
        let leaked = FileDescriptor(owning: dup(2))
        #expect(leaked.number > 2)
        let listed = try shell("for f in /proc/self/fd/*; do echo ${f##*/}; done").output
        let numbers = Set(listed.split(separator: "\n").compactMap { Int32($0) })
        // dash expands the pattern itself, with one descriptor for the directory.
        #expect(numbers.isSuperset(of: [0, 1, 2]))
        #expect(numbers.count <= 4)
        #expect(!numbers.contains(leaked.number) || leaked.number == 3)
    }

    @Test func descriptorsMaySwapNumbers() throws {
        let a = try FileDescriptor.pipe()
        let b = try FileDescriptor.pipe()
        try a.writeEnd.writeAll(Array("from a".utf8))
        try b.writeEnd.writeAll(Array("from b".utf8))
        let low = min(a.readEnd.number, b.readEnd.number)
        let high = max(a.readEnd.number, b.readEnd.number)
        let swapped = try shell("head -c 6 /proc/self/fd/\(low)") {
            $0.descriptors[low] = .descriptor(high)
            $0.descriptors[high] = .descriptor(low)
        }
        #expect(swapped.output == (low == a.readEnd.number ? "from b" : "from a"))
    }

    @Test func aBlockedSignalOfTheParentReachesTheChild() throws {
        let done = try EventDescriptor()
        let number = done.descriptor.number
        let thread = try Thread(name: "blocking") {
            // Only this thread blocks it, and the child is started here.
            let ended = try? Self.endBySIGTERMFromABlockingThread()
            if ended == .signaled(.terminate, dumpedCore: false) {
                var one: UInt64 = 1
                write(number, &one, 8)
            }
        }
        thread.join()
        #expect(done.drain() == 1)
    }

    private static func endBySIGTERMFromABlockingThread() throws -> ChildStatus? {
        try Signal.block([.terminate])
        let child = try ChildProcess(ChildCommand("/bin/sleep", ["600"]))
        try child.send(.terminate)
        return try child.wait(milliseconds: 10_000)
    }

    @Test func theProcessDescriptorTellsOfTheEnd() throws {
        let child = try ChildProcess(ChildCommand("/bin/sleep", ["600"]))
        #expect(try child.poll() == nil)
        #expect(try !child.descriptor.waitForEnd(milliseconds: 0))
        #expect(try child.wait(milliseconds: 0) == nil)
        try child.descriptor.send(.kill)
        #expect(try child.descriptor.waitForEnd(milliseconds: 10_000))
        #expect(try child.poll() == .signaled(.kill, dumpedCore: false))
        #expect(throws: Errno.noSuchProcess) { try child.descriptor.send(.kill) }
        #expect(throws: Never.self) { try child.send(.kill) }
    }

    @Test func waitingForOneChildLeavesTheOthers() throws {
        let first = try ChildProcess(ChildCommand("/bin/sh", ["-c", "exit 1"]))
        let second = try ChildProcess(ChildCommand("/bin/sh", ["-c", "exit 2"]))
        #expect(try second.wait() == .exited(2))
        #expect(try first.wait() == .exited(1))
    }

    @Test func aForgottenChildIsKilled() throws {
        let pipe = try FileDescriptor.pipe()
        let reading = pipe.readEnd
        let writing = pipe.writeEnd
        var command = ChildCommand("/bin/sleep", ["600"])
        command.descriptors[1] = .descriptor(writing.number)
        var child: ChildProcess? = try ChildProcess(command)
        try writing.close()
        #expect(child != nil)
        child = nil
        // The child held the last write end.
        #expect(try reading.wait(for: .readable, milliseconds: 10_000))
        #expect(try reading.readToEnd(bytesMax: 1).isEmpty)
    }

    @Test func aGroupOfItsOwnHasTheChildsNumber() throws {
        let result = try shell("echo $$; cut -d' ' -f5 /proc/$$/stat") { $0.leadsGroup = true }
        let lines = result.output.split(separator: "\n")
        #expect(lines.count == 2 && lines[0] == lines[1])
    }
}
