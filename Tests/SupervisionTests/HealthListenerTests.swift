import Linux
import Model
import TestKit
import Testing

@testable import Supervision

@Suite struct HealthListenerTests {
    private let folder: SharedFolder

    init() throws { folder = try SharedFolder() }

    private func ask(_ kind: ProcessKind, milliseconds: Int = 5_000) throws -> [String?] {
        try HealthListener.ask(in: folder.path, about: kind, milliseconds: milliseconds)
            .map { $0.map { String(decoding: $0, as: UTF8.self) } }
    }

    @Test func whoAsksGetsTheLine() async throws {
        let health = try HealthListener(in: folder.path, only: .decode)
        let name = "serve-decode-\(CurrentProcess.processID).sock"
        #expect(folder.entries == [name])
        let status = try FileDescriptor.openDirectory(folder.path).status(of: name)
        #expect(status.mode & 0o177 == 0)
        // Connected before the answer is written: the line waits in the socket.
        let asking = try FileDescriptor.connect(toSocket: "\(folder.path)/\(name)")
        health.answer("first\n")
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64, alignment: 16)
        defer { buffer.deallocate() }
        #expect(try asking.readFully(into: buffer) == 6, "the line, and then the end")
        #expect(buffer[..<6].elementsEqual("first\n".utf8))
        withExtendedLifetime(health) {}
    }

    @Test func whoDoesNotAnswerInTimeIsNamedAsSuch() throws {
        let health = try HealthListener(in: folder.path, only: nil)
        #expect(try ask(.decode, milliseconds: 10) == [nil])
        withExtendedLifetime(health) {}
    }

    @Test func onlyTheKindIsAsked() throws {
        let health = try HealthListener(in: folder.path, only: .cache)
        #expect(try ask(.decode) == [])
        withExtendedLifetime(health) {}
        #expect(throws: Errno.noSuchFile) {
            try HealthListener.ask(in: "\(folder.path)/none", about: .cache, milliseconds: 1)
        }
    }

    @Test func theSocketGoesWithItsListenerAndWhatOthersLeftWithTheNextOne() throws {
        for name in ["serve-all-1.sock", "serve-decode-2.sock"] {
            // The file remains when its listener is closed.
            _ = try UnixListener(path: "\(folder.path)/\(name)", mode: 0o600)
        }
        let living = try UnixListener(path: "\(folder.path)/serve-cache-3.sock", mode: 0o600)
        #expect(folder.entries.count == 3)
        #expect(try ask(.decode) == [], "no process listens there")
        do { _ = try HealthListener(in: folder.path, only: .decode) }
        #expect(folder.entries == ["serve-cache-3.sock"])
        withExtendedLifetime(living) {}
    }

    @Test func manyWhoAskAtOnceAreAllAnswered() throws {
        let health = try HealthListener(in: folder.path, only: .decode)
        let path = "\(folder.path)/\(folder.entries[0])"
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64, alignment: 16)
        defer { buffer.deallocate() }
        for _ in 0..<1_000 {
            let asking = try FileDescriptor.connect(toSocket: path)
            let gone = try FileDescriptor.connect(toSocket: path)
            try gone.close()
            health.answer("ok\n")
            #expect(try asking.readFully(into: buffer) == 3)
        }
    }

    @Test func aKindIsWellWhenEachOfItsProcessesWasWelcomed() {
        var script = Script([.decode, .decode, .cache])
        func expectHealth(_ cache: String, _ decode: String, withoutSession: Set<Int> = []) {
            #expect(
                script.state.healthLine(withoutSession: withoutSession)
                    == "{\"cache\":\"\(cache)\",\"decode\":\"\(decode)\"}\n")
        }
        script.does(.start)
        expectHealth("1 of 1 not connected", "2 of 2 not connected")
        script.does(.welcomed(slot: 0, life(1)))
        script.does(.welcomed(slot: 2, life(2)))
        expectHealth("ok", "1 of 2 not connected")
        script.does(.welcomed(slot: 1, life(3)))
        expectHealth("ok", "ok")
        expectHealth("1 of 1 not connected", "ok", withoutSession: [2])
        script.does(.ended(slot: 1, .exited(0)))
        expectHealth("ok", "1 of 2 not connected")
        script.does(.stopRequested)
        expectHealth("shutting down", "shutting down")
    }
}
