import Linux
import TestKit
import Testing

@Suite struct UnixListenerTests {
    private let folder = TestKit.TemporaryDirectory()
    private var path: String { folder.file("s") }

    @Test func whatIsSaidArrivesAndNobodyBlocks() throws {
        let listener = try UnixListener(path: path, mode: 0o600)
        #expect(try listener.accept() == nil, "no connection yet")
        let client = try FileDescriptor.connect(toSocket: path)
        guard let served = try listener.accept() else {
            Issue.record("a connection was not accepted")
            return
        }
        #expect(try served.send(Array("hello".utf8)) == 5)
        try served.close()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64, alignment: 16)
        defer { buffer.deallocate() }
        #expect(try client.readFully(into: buffer) == 5)
        #expect(buffer[..<5].elementsEqual("hello".utf8))
    }

    @Test func whatNobodyReadsIsAnErrorAndNoSignal() throws {
        let listener = try UnixListener(path: path, mode: 0o600)
        try FileDescriptor.connect(toSocket: path).close()
        guard let served = try listener.accept() else {
            Issue.record("a connection was not accepted")
            return
        }
        do throws(Errno) {
            _ = try served.send([1])
            Issue.record("sent without a reader")
        } catch {
            #expect(error == .brokenPipe)
        }
    }

    @Test func aNameThatIsTakenAndAPathThatIsTooLongAreRefused() throws {
        let listener = try UnixListener(path: path, mode: 0o600)
        #expect(failure(path)?.description.contains("EADDRINUSE") == true)
        let long = folder.file(String(repeating: "x", count: 108 - folder.path.utf8.count - 1))
        #expect(failure(long) == .nameTooLong)
        #expect(failure(String(long.dropLast())) == nil)
        withExtendedLifetime(listener) {}
    }

    private func failure(_ path: String) -> Errno? {
        do throws(Errno) {
            _ = try UnixListener(path: path, mode: 0o600)
            return nil
        } catch {
            return error
        }
    }

    @Test func whereNobodyListensAnyMoreTheConnectionIsRefused() throws {
        do { _ = try UnixListener(path: path, mode: 0o600) }
        #expect(throws: Errno.connectionRefused) {
            try FileDescriptor.connect(toSocket: path).close()
        }
    }
}
