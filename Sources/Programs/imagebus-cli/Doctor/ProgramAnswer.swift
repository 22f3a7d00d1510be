import Linux
import Supervision

/// A program that says something and ends.
enum ProgramAnswer {
    private static let milliseconds = 30_000
    private static let bytesMax = 65_536

    /// Its standard output; nil where it does not start, does not end with 0, or takes long. What
    /// it complains of goes to /dev/null.
    static func text(_ path: String, _ arguments: [String]) -> String? {
        do throws(Errno) {
            let pipe = try FileDescriptor.pipe()
            var command = ChildCommand(path, arguments)
            command.descriptors[1] = .descriptor(pipe.writeEnd.number)
            command.descriptors[2] = .null
            let child = try ChildProcess(command)
            try pipe.writeEnd.close()
            let deadline = MonotonicClock.now() + UInt64(milliseconds) * 1_000_000
            guard let bytes = try read(pipe.readEnd, until: deadline) else {
                try child.send(.kill)
                _ = try child.wait(milliseconds: milliseconds)
                return nil
            }
            guard case .exited(0)? = try child.wait(milliseconds: milliseconds) else { return nil }
            return String(decoding: bytes, as: UTF8.self)
        } catch {
            return nil
        }
    }

    private static func read(
        _ pipe: borrowing FileDescriptor, until deadline: UInt64
    ) throws(Errno) -> [UInt8]? {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 4_096, alignment: 16)
        defer { buffer.deallocate() }
        var bytes: [UInt8] = []
        while true {
            let now = MonotonicClock.now()
            guard now < deadline else { return nil }
            guard try pipe.wait(for: .readable, milliseconds: Int((deadline - now) / 1_000_000) + 1)
            else { continue }
            let count = try pipe.read(into: buffer)
            if count == 0 { return bytes }
            bytes += buffer[..<count]
            if bytes.count > bytesMax { return nil }
        }
    }
}
