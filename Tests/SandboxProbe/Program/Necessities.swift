import Linux
import Model
import ProcessRuntime
import Sandbox
import SandboxAttempts

/// Operations that a worker needs.
enum Necessities {
    /// Tries everything and prints one line each. Returns whether all succeeded.
    static func areAllowed(_ places: ProbePlaces) -> Bool {
        var isAllowed = true
        func check(_ name: String, _ body: () throws(Errno) -> Void) {
            do throws(Errno) {
                try body()
                print(name, "allowed")
            } catch {
                print(name, "DENIED", error.name)
                isAllowed = false
            }
        }
        check("thread", thread)
        check("large-memory", largeMemory)
        check("descriptors-of-events", events)
        check("signal-itself") { () throws(Errno) in
            try Signal.resume.send(to: CurrentProcess.processID)
        }
        check("socket-unix") { () throws(Errno) in
            // It doesn't matter whether anything listens there.
            let number = attempt_connect(places.paths.backSocket(PoolName(places.kind)))
            let absent = [Errno.noSuchFile.rawValue, Errno.connectionRefused.rawValue]
            if number != 0, !absent.contains(number) { throw Errno(rawValue: number) }
        }
        for directory in places.profile.own {
            check("file-in-\(label(directory, places))") { () throws(Errno) in
                try segment(in: directory, named: places.new(in: ""))
            }
        }
        for directory in places.profile.inputs {
            check("read-\(label(directory, places))") { () throws(Errno) in
                do throws(Errno) {
                    _ = try FileDescriptor.openDirectory(directory).open("sandbox-probe.file")
                } catch .noSuchFile {
                    // The lookup itself was permitted.
                }
            }
        }
        return isAllowed
    }

    private static func label(_ directory: String, _ places: ProbePlaces) -> String {
        String(directory.dropFirst(places.paths.segmentsRoot.utf8.count + 1))
    }

    private static func thread() throws(Errno) {
        try Thread(name: "probe") {}.join()
    }

    /// The C library maps it, and asks the kernel to grow it.
    private static func largeMemory() throws(Errno) {
        var bytes = [UInt8](repeating: 1, count: 1 << 20)
        bytes.reserveCapacity(64 << 20)
        guard bytes.last == 1, bytes.capacity >= 64 << 20 else { throw .noMemory }
    }

    private static func events() throws(Errno) {
        _ = try TimerDescriptor()
        _ = try EventDescriptor()
        _ = try SignalDescriptor([.terminate])
        _ = Random.uint64()
    }

    /// Creates a segment the way an arena does.
    private static func segment(in path: String, named name: String) throws(Errno) {
        let directory = try FileDescriptor.openDirectory(path)
        let name = String(name.dropFirst())
        let file = try directory.open(
            name, [.readWrite, .create, .exclusive, .noFollow], mode: 0o640)
        try file.reserve(byteCount: 1 << 20)
        try file.setMode(0o640)
        let memory = try MappedMemory(file, count: 1 << 20, access: .readWrite)
        try memory.populate()
        memory.mutableBytes[0] = 1
        try directory.unlink(name)
    }
}
