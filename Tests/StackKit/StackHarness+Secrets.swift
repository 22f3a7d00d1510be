import Glibc
import Linux
public import Messages
public import TestKit

extension StackHarness {
    /// What workers of a kind show at their listener, as whoever is the user of `serve`, and no
    /// sandboxed worker, finds it in `/proc`; nil where no listener asks.
    public func listenerSecret(_ kind: WorkerKind) throws -> ListenerSecret? {
        guard let path = Self.secretPaths(of: processID, kind.name).first else { return nil }
        let bytes = try FileDescriptor.open(path).sealedBytes(bytesMax: ListenerSecrets.byteCount)
        return ListenerSecret(bytes)
    }

    /// Open descriptors of secrets in a process; those of one kind where it is named.
    public static func secretPaths(of process: Int32, _ kind: String = "") -> [String] {
        let folder = "/proc/\(process)/fd"
        return DirectoryEntries.names(folder).map { "\(folder)/\($0)" }.filter {
            linkTarget($0).hasPrefix("/memfd:imagebus-secret-\(kind)")
        }
    }

    private static func linkTarget(_ path: String) -> String {
        var buffer = [CChar](repeating: 0, count: 4_096)
        let count = max(0, readlink(path, &buffer, buffer.count))
        return String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
