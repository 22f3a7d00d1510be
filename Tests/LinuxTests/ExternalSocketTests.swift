import Glibc
import Linux
import TestKit
import Testing

@Suite struct ExternalSocketTests {
    private let folder = TestKit.TemporaryDirectory()
    private var path: String { folder.file("s") }

    @Test func theOwnerSeesTheEnd() throws {
        let listener = try UnixListener(path: path, mode: 0o600)
        let client = try FileDescriptor.connect(toSocket: path)
        guard let served = try listener.accept() else {
            Issue.record("a connection was not accepted")
            return
        }
        let external = try ExternalSocket(number: served.number)
        #expect(try external.shutDown())
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 8, alignment: 8)
        defer { buffer.deallocate() }
        #expect(try served.read(into: buffer) == 0)
        #expect(try client.read(into: buffer) == 0)
    }

    /// The owner closed it, and its descriptor number now refers to another socket.
    @Test func whatHasTheNumberLaterIsLeftAlone() throws {
        let listener = try UnixListener(path: path, mode: 0o600)
        let first = try FileDescriptor.connect(toSocket: path)
        let external = try ExternalSocket(number: first.number)
        let second = try FileDescriptor.connect(toSocket: path)
        #expect(dup2(second.number, first.number) == first.number)
        #expect(try !external.shutDown())
        #expect(try second.send([1]) == 1, "it continues")
        withExtendedLifetime(listener) {}
    }
}
