import Linux
package import Model

/// The secret files that a configuration names. They are read when the configuration is loaded and
/// polled while it is in use, so that rotating a key needs no signal.
package struct SecretFiles: Sendable {
    /// A message about a file for the operator; never contains the secret.
    package struct Note: Hashable, Sendable {
        package let path: String
        /// The message, one sentence.
        package let reason: String
    }

    /// The maximum size of a secret file, in bytes.
    package static let bytesMax = 16 << 10
    /// The maximum number of files per configuration; all of them are polled every second.
    package static let filesMax = 64

    /// Pending notes, until they are taken.
    private var notes: [Note] = []
    private var unreadable: Set<String> = []
    /// The stamps of the files at the time the current values were read.
    private var stamps: [String: SecretFile.Stamp] = [:]

    /// Creates an instance that has not read any file.
    package init() {}

    /// Reads all files of a configuration that replaces `old` (`nil` on first load). Throws if a
    /// file is unusable and `old` has a value for it or doesn't name it; `old` then stays in effect
    /// with all of its values.
    ///
    /// If there is nothing to lose, rejecting the whole configuration would not help: at startup,
    /// and if `old` names the file but has no value for it either. Such a file is noted, and
    /// `refresh` tries it again. Until it is usable, requests that need it are rejected
    /// (`Configuration.resolve`); other requests are not affected.
    package mutating func fill(
        _ configuration: inout Configuration, path: String, after old: Configuration?
    ) throws(ConfigurationFileError) {
        let nothingToLose = old.map(Self.missed(by:))
        var missing: Set<String> = []
        var problems: [ConfigurationFileError.Problem] = []
        var found: [String: SecretFile.Stamp] = [:]
        for path in configuration.secretFiles {
            do throws(SecretFileError) {
                let file = try SecretFile(path)
                noteAccess(file.status, path)
                found[path] = file.stamp()
                configuration.secrets[path] = try file.text(
                    isProfile: configuration.credentialsFiles.contains(path))
            } catch {
                guard nothingToLose?.contains(path) ?? true else {
                    problems.append(.init(line: nil, "\(path): \(error.reason)"))
                    continue
                }
                missing.insert(path)
                configuration.secretErrors[path] = error.reason
                notes.append(
                    Note(path: path, reason: "\(error.reason): requests that need it are refused"))
            }
        }
        // The previous values and their stamps stay in effect until all files are valid.
        guard problems.isEmpty else { throw ConfigurationFileError(path: path, problems) }
        (stamps, unreadable) = (found, missing)
    }

    /// Returns the files that a configuration names but has no value for.
    private static func missed(by configuration: Configuration) -> Set<String> {
        Set(configuration.secretFiles.filter { configuration.secrets[$0] == nil })
    }

    /// Returns a note for the first file of `next` that can't be read now although `current` has
    /// its value: a coordinator that replaced this one would not have that value. A file without a
    /// value has nothing to lose.
    package static func loss(from current: Configuration, to next: Configuration) -> Note? {
        for path in next.secretFiles where current.secrets[path] != nil {
            do throws(SecretFileError) {
                _ = try SecretFile(path).text(isProfile: next.credentialsFiles.contains(path))
            } catch {
                return Note(
                    path: path,
                    reason: "\(error.reason), and a new coordinator would lose the value that this "
                        + "one has: correct the file first")
            }
        }
        return nil
    }

    /// Returns whether there are files to poll.
    package func areUsed(by configuration: Configuration) -> Bool {
        !configuration.secrets.isEmpty || !unreadable.isEmpty
    }

    /// Reads again the files that changed or could not be read before. A file that has become
    /// unreadable keeps its value, which is noted once.
    ///
    /// - Returns: Whether any value changed.
    package mutating func refresh(_ configuration: inout Configuration) -> Bool {
        var hasChanged = false
        for path in unreadable.union(configuration.secrets.keys) {
            let old = configuration.secrets[path]
            do throws(SecretFileError) {
                let file = try SecretFile(path)
                let stamp = file.stamp()
                guard stamp == nil || stamp != stamps[path] || unreadable.contains(path) else {
                    continue
                }
                let new = try file.text(isProfile: configuration.credentialsFiles.contains(path))
                stamps[path] = stamp
                unreadable.remove(path)
                if let old, new.utf8.elementsEqual(old.utf8) { continue }
                configuration.secrets[path] = new
                configuration.secretErrors[path] = nil
                hasChanged = true
            } catch {
                if unreadable.insert(path).inserted {
                    notes.append(
                        Note(
                            path: path, reason: "\(error.reason): the previous value remains in use"
                        ))
                }
            }
        }
        return hasChanged
    }

    /// Returns the notes since the last call and clears them.
    package mutating func drainNotes() -> [Note] {
        defer { notes = [] }
        return notes
    }

    private mutating func noteAccess(_ status: FileStatus, _ path: String) {
        guard status.mode & 0o007 != 0 else { return }
        notes.append(Note(path: path, reason: "the secret is readable by other users"))
    }
}

/// One open secret file, with an acceptable owner and writable only by that owner.
struct SecretFile: ~Copyable {
    private let file: RegularFile

    /// The file's status as reported by the kernel.
    var status: FileStatus { file.status }

    init(_ path: String) throws(SecretFileError) {
        let file = try Self.open(path)
        try Self.check(file.status)
        self.file = file
    }

    private static func open(_ path: String) throws(SecretFileError) -> RegularFile {
        do throws(RegularFileError) {
            return try RegularFile(path)
        } catch {
            throw SecretFileError(reason: "the secret \(error)")
        }
    }

    /// Checks the owner and mode: a user who can change a secret controls what is sent to origins.
    private static func check(_ status: FileStatus) throws(SecretFileError) {
        guard [0, CurrentProcess.userID].contains(status.userID) else {
            throw SecretFileError(reason: "the secret belongs to user \(status.userID)")
        }
        guard status.mode & 0o022 == 0 else {
            throw SecretFileError(reason: "the secret is writable by users other than its owner")
        }
    }

    /// Returns the content in the form that the configuration uses.
    borrowing func text(isProfile: Bool) throws(SecretFileError) -> String {
        guard isProfile else { return try line() }
        // An AWS credentials file for S3 is used unchanged.
        guard let text = String(validating: try bytes(), as: UTF8.self),
            S3Credentials(profileFile: text) != nil
        else {
            throw SecretFileError(
                reason: "the file has no profile [default] with aws_access_key_id and "
                    + "aws_secret_access_key")
        }
        return text
    }

    /// Returns the single line of the file without its line ending.
    private borrowing func line() throws(SecretFileError) -> String {
        let bytes = try bytes()
        let line = bytes.last == 0x0A ? bytes.dropLast() : bytes[...]
        // Any other bytes would reach the origin in a different form than in the file.
        let valid = String(
            validating: line.last == 0x0D ? line.dropLast() : line, as: UTF8.self)
        guard let text = valid, !text.isEmpty, HTTPHeader(name: "a", value: text).isValid else {
            throw SecretFileError(reason: "the secret is not a single line of UTF-8 text")
        }
        return text
    }

    private borrowing func bytes() throws(SecretFileError) -> [UInt8] {
        let bytes: [UInt8]
        do throws(RegularFileError) {
            // Reading one extra byte detects a file that is too long.
            bytes = try file.bytes(max: SecretFiles.bytesMax + 1)
        } catch {
            throw SecretFileError(reason: "the secret \(error)")
        }
        guard bytes.count <= SecretFiles.bytesMax else {
            throw SecretFileError(
                reason: "the secret exceeds \(SecretFiles.bytesMax) bytes")
        }
        return bytes
    }

    /// Returns the stamp of the file; `nil` if a later change could produce the same stamp, because
    /// the modification time has no fractional seconds.
    func stamp(at now: Int64 = WallClock.seconds()) -> Stamp? {
        guard status.modifiedSeconds < now - 1 else { return nil }
        return Stamp(
            device: status.device, inode: status.inode, size: status.size,
            modifiedSeconds: status.modifiedSeconds)
    }

    /// Identifies the content of a file: equal stamps imply equal bytes.
    struct Stamp: Hashable, Sendable {
        let device: UInt64
        let inode: UInt64
        let size: Int
        let modifiedSeconds: Int64
    }
}

/// The reason why a secret is unusable; never contains the secret.
struct SecretFileError: Error {
    let reason: String
}

/// A file whose bytes are available without waiting: not a pipe or a device. The process that reads
/// it serves other requests and must not block.
struct RegularFile: ~Copyable {
    /// The file's status when it was opened.
    let status: FileStatus
    private let file: FileDescriptor

    init(_ path: String) throws(RegularFileError) {
        let file = try Self.open(path)
        status = try Self.status(of: file)
        self.file = file
    }

    private static func open(_ path: String) throws(RegularFileError) -> FileDescriptor {
        do throws(Errno) {
            // Nonblocking: opening a pipe would wait for its writer.
            return try FileDescriptor.open(path, [.readOnly, .nonBlocking])
        } catch {
            throw .system(error)
        }
    }

    private static func status(
        of file: borrowing FileDescriptor
    ) throws(RegularFileError) -> FileStatus {
        let status: FileStatus
        do throws(Errno) {
            status = try file.status()
        } catch {
            throw .system(error)
        }
        guard status.type == .regular else { throw .notRegular }
        return status
    }

    /// Returns the whole content; throws if it is longer than `bytesMax`.
    borrowing func bytes(max bytesMax: Int) throws(RegularFileError) -> [UInt8] {
        do throws(Errno) {
            return try file.readToEnd(bytesMax: bytesMax)
        } catch {
            throw .system(error)
        }
    }
}

/// The reason why a file can't be read.
enum RegularFileError: Error, CustomStringConvertible {
    /// The kernel's reason.
    case system(Errno)
    /// A directory, pipe or device.
    case notRegular

    /// The reason, phrased to follow the name of the file.
    var description: String {
        switch self {
        case .system(let error): "cannot be read (\(error))"
        case .notRegular: "is not a regular file"
        }
    }
}
