import ProcessRuntime
import Synchronization
import Wire
import ZeroMQ

extension RealProcesses {
    /// Programs of two releases together: a coordinator with other protocol versions than a client,
    /// and than a worker. `GarbageTests` covers the opposite case.
    @Suite struct VersionTests {
        @Test func aClientSaysThatItsCoordinatorIsOfAnotherRelease() throws {
            let memory = try Linux.TemporaryDirectory(in: "/dev/shm", prefix: "ib-")
            try FileDescriptor.makeDirectory(path: "\(memory.path)/front")
            let socket = "\(memory.path)/front/front.sock"
            let coordinator = try OtherCoordinator(at: socket)
            let end = try CommandLineRun([
                "get", "http://127.0.0.1:9/a.png", "--endpoint", socket, "--json",
            ]).end().expect(70)
            #expect(try end.json()["error"]?["name"]?.text == "versionMismatch", "\(end)")
            #expect(try end.json()["error"]?["message"]?.text?.contains("2 to 3") == true, "\(end)")
            #expect(coordinator.stop() == 1, "nothing follows the hello")
        }

        @Test func aWorkerEndsItsSupervisorAndSaysWhy() throws {
            let memory = try Linux.TemporaryDirectory(in: "/dev/shm", prefix: "ib-")
            for path in ["back", "back/decode"] {
                try FileDescriptor.makeDirectory(path: "\(memory.path)/\(path)")
            }
            let coordinator = try OtherCoordinator(at: "\(memory.path)/back/decode/back.sock")
            try CommandLineRun([
                "serve", "--only", "decode", "--decode", "1", "--runtime-dir", memory.path,
            ]).end().expect(78, "its coordinator 2 to 3: install both from the same release")
            #expect(coordinator.stop() == 1, "started once")
        }
    }
}

/// A coordinator of a later release: it answers every message with the versions that it supports.
private final class OtherCoordinator: Sendable {
    private let isOver = Atomic(false)
    private let messages = Atomic(0)
    private let isBound = Monitor(false)
    private let hasEnded = Monitor(false)

    init(at path: String) throws {
        let endpoint = try Endpoint(path: path)
        _ = BackgroundThread { [self] in
            try? serve(endpoint)
            hasEnded.withLock { $0 = true }
        }
        try #require(isBound.wait { $0 })
    }

    /// Stops it and returns the number of messages received.
    func stop() -> Int {
        isOver.store(true, ordering: .sequentiallyConsistent)
        #expect(hasEnded.wait { $0 })
        return messages.load(ordering: .sequentiallyConsistent)
    }

    private func serve(_ endpoint: Endpoint) throws {
        let socket = try Socket(
            .router, in: try Context(), SocketOptions(frameBytesMax: 1 << 20))
        try socket.bind(endpoint)
        isBound.withLock { $0 = true }
        let header = VersionRefusal.header
        let versions: [UInt8] = [2, 3]
        var reader = MessageReader(framesMax: 4)
        var loop = EventLoop(sourcesMax: 1)
        _ = loop.add(socket)
        while !isOver.load(ordering: .sequentiallyConsistent) {
            while try reader.receive(from: socket) {
                messages.add(1, ordering: .sequentiallyConsistent)
                guard let peer = reader.routingID,
                    try socket.send(to: peer) == .sent
                else { continue }
                _ = try socket.send(header.span.bytes, more: true)
                _ = try socket.send(versions.span.bytes)
            }
            // It is stopped by a flag.
            _ = try loop.wait(until: .now().adding(milliseconds: 20))
        }
    }
}
