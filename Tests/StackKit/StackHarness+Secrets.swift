import Glibc
import Linux
public import Model
public import TestKit

extension StackHarness {
    /// The secret that workers of a kind present at their listener, read from `/proc` as the user
    /// of `serve` can, and no sandboxed worker can; nil if no listener requires one.
    public func listenerSecret(_ kind: WorkerKind) throws -> ListenerSecret? {
        guard let path = Self.secretPaths(of: processID, kind.name).first else { return nil }
        let bytes = try FileDescriptor.open(path).sealedBytes(bytesMax: ListenerSecrets.byteCount)
        return ListenerSecret(bytes)
    }

    /// The open descriptors of secrets in a process, limited to one kind if `kind` is given.
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
