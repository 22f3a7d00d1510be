import Glibc
import Linux
import Testing

/// Memory that is shared with other processes for reading.
@Suite struct SealedFileTests {
    private let bytes = Array("the bytes of it".utf8)

    @Test func itsBytesAreReadAgainAndAgain() throws {
        let file = try FileDescriptor.sealed(bytes, name: "test-sealed")
        for _ in 0..<2 { #expect(try file.sealedBytes(bytesMax: bytes.count) == bytes) }
        #expect(throws: Errno.fileTooLarge) { try file.sealedBytes(bytesMax: bytes.count - 1) }
    }

    @Test func nobodyWhoHasItChangesIt() throws {
        let file = try FileDescriptor.sealed(bytes, name: "test-sealed")
        #expect(throws: Errno.notPermitted) { try file.writeAll([0], at: 0) }
        #expect(throws: Errno.notPermitted) { try file.writeAll([0]) }
        for size in [0, 100] {
            #expect(ftruncate(file.number, size) == -1 && errno == EPERM, "\(size)")
        }
        // Not even through its name in /proc.
        let again = try FileDescriptor.open("/proc/self/fd/\(file.number)", [.readWrite])
        #expect(throws: Errno.notPermitted) { try again.writeAll([0], at: 0) }
        #expect(try file.sealedBytes(bytesMax: bytes.count) == bytes)
    }

    @Test func aChildHasItOnlyWhereItIsNamed() throws {
        let file = try FileDescriptor.sealed(bytes, name: "test-sealed")
        let list = ["-c", "ls -l /proc/self/fd | grep -c test-sealed"]
        var command = ChildCommand("/bin/sh", list)
        command.descriptors[1] = .null
        #expect(try ChildProcess(command).wait() == .exited(1), "grep finds none")
        command.descriptors[4] = .descriptor(file.number)
        #expect(try ChildProcess(command).wait() == .exited(0))
    }
}
