import Glibc
public import Linux

/// The lock of a runtime directory, `serve.lock`: whoever runs the coordinator there holds it.
public final class StackLock {
    private let file: FileDescriptor

    /// The file's name in the runtime directory.
    public static let fileName = "serve.lock"

    /// Others look at the lock for an instant (`isHeld`); that is waited out.
    private static let triesMax = 30
    private static let pauseMicroseconds: UInt32 = 10_000

    /// Takes the lock; throws `locked` while somebody else holds it.
    init(in directory: borrowing VerifiedDirectory) throws(RuntimeDirectoryError) {
        let path = "\(directory.path)/\(Self.fileName)"
        do throws(Errno) {
            file = try directory.descriptor.open(
                Self.fileName, [.readWrite, .create, .noFollow], mode: 0o600)
            var tries = 0
            while try !file.tryLock(.exclusive) {
                tries += 1
                if tries == Self.triesMax { throw .wouldBlock }
                usleep(Self.pauseMicroseconds)
            }
            try file.writeAll(Self.record(CurrentProcess.processID), at: 0)
        } catch .wouldBlock {
            throw .locked(path, holder: Self.holder(in: directory.descriptor))
        } catch {
            throw .system(path, error)
        }
    }

    /// Whether a `serve` runs the coordinator of a runtime directory. False where there is none.
    ///
    /// A shared lock is enough to see it: two who look at the same time do not see each other.
    public static func isHeld(in root: String) throws(Errno) -> Bool {
        do throws(Errno) {
            let file = try FileDescriptor.openDirectory(root).open(fileName, [.noFollow])
            return try !file.tryLock(.shared)
        } catch .noSuchFile {
            return false
        }
    }

    /// The process that wrote itself into the file.
    private static func holder(in directory: borrowing FileDescriptor) -> ProcessID? {
        guard let file = try? directory.open(fileName, [.noFollow]),
            let bytes = try? file.readToEnd(bytesMax: 64)
        else { return nil }
        let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
        return ProcessID(String(decoding: line, as: UTF8.self))
    }

    /// Decimal digits and line ends to a fixed length, so that a shorter number hides a longer one.
    private static func record(_ process: ProcessID) -> [UInt8] {
        let digits = Array("\(process)\n".utf8)
        return digits + Array(repeating: UInt8(ascii: "\n"), count: max(0, 16 - digits.count))
    }
}

extension FileDescriptor {
    fileprivate borrowing func writeAll(_ bytes: [UInt8], at offset: Int) throws(Errno) {
        try writeAll(bytes.span.bytes, at: offset)
    }
}
