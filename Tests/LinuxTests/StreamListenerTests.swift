import Glibc
import Linux
import TestKit
import Testing

/// Listeners that another process may inherit.
@Suite struct StreamListenerTests {
    private let folder = TestKit.TemporaryDirectory()
    private var path: String { folder.file("s") }

    private func failure(_ path: String) -> Errno? {
        do throws(Errno) {
            _ = try StreamListener(socketPath: path, mode: 0o660)
            return nil
        } catch {
            return error
        }
    }

    /// Independently of the umask.
    @Test func aSocketFileHasItsMode() throws {
        let listener = try StreamListener(socketPath: path, mode: 0o660)
        let status = try FileDescriptor.status(path: path)
        #expect(status.type == .socket && status.mode & 0o7777 == 0o660)
        let port = listener.port
        #expect(port == nil)
        try FileDescriptor.connect(toSocket: path).close()
    }

    @Test func whatNobodyListensAtIsReplacedAndNothingElse() throws {
        let number: Int32
        do {
            let listener = try StreamListener(socketPath: path, mode: 0o660)
            #expect(failure(path)?.rawValue == EADDRINUSE, "it has a listener")
            number = dup(listener.descriptor.number)
        }
        #expect(failure(path)?.rawValue == EADDRINUSE, "another process inherited it")
        close(number)
        #expect(failure(path) == nil)
        let file = folder.write([1], to: "file")
        #expect(failure(file)?.rawValue == EADDRINUSE, "a regular file isn't a socket")
        #expect(FileBytes.text(file) != nil)
        #expect(failure(folder.file("none/s")) == .noSuchFile)
    }

    @Test func anInheritedSocketIsOfEitherKind() throws {
        let unix = try StreamListener(socketPath: path, mode: 0o660)
        let again = try StreamListener(owning: FileDescriptor(owning: unix.relinquish()))
        let none = again.port
        #expect(none == nil)
        let tcp = try StreamListener(address: "127.0.0.1", port: 0)
        let chosen = tcp.port
        let same = try StreamListener(owning: FileDescriptor(owning: tcp.relinquish()))
        let port = same.port
        #expect(port != nil && port == chosen)
    }
}
