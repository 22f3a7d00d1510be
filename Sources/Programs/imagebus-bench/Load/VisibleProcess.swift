import Linux
import Messages

/// A process of a stack that can be looked at from here.
enum VisibleProcess {
    /// Finds the number of a process of the status report here.
    typealias Finder = (StatusReport.ProcessStatus) -> ProcessID?

    /// The kernel cuts a process' name off behind so many bytes (`TASK_COMM_LEN`).
    private static let nameBytesMax = 15

    /// The number under which `/proc` knows a process of the status report here; nil where that is
    /// another process, since the stack runs in containers that count by themselves.
    static func id(of process: StatusReport.ProcessStatus) -> ProcessID? {
        let id = ProcessID(process.pid)
        guard let file = try? FileDescriptor.open("/proc/\(id)/comm"),
            let bytes = try? file.readToEnd(bytesMax: 64)
        else { return nil }
        let name = "imagebus-\(process.kind.name)".utf8.prefix(nameBytesMax)
        return bytes.elementsEqual(Array(name) + [UInt8(ascii: "\n")]) ? id : nil
    }
}
