public import Configuration
import ImageModel
import Linux

/// The secret files that a configuration names: read when it is loaded, and again while they are
/// used, so that a rotated key needs no signal.
public struct SecretFiles: Sendable {
    /// Something that an operator should know about a file; never what is in it.
    public struct Note: Hashable, Sendable {
        /// The file.
        public let path: String
        /// A sentence.
        public let reason: String
    }

    /// Bytes of a file.
    public static let bytesMax = 16 << 10
    /// Files of one configuration: all of them are looked at each second.
    public static let filesMax = 64

    /// What was noted, until it is taken.
    private var notes: [Note] = []
    private var unreadable: Set<String> = []
    /// What files looked like when the values that hold were read.
    private var stamps: [String: SecretFile.Stamp] = [:]

    /// Nothing was read yet.
    public init() {}

    /// Reads all files of a configuration that takes the place of `old`; `nil`: there is none of
    /// before. Throws where a file cannot be used of which `old` has a value, or which it does not
    /// name: `old` holds on then, with all that it has.
    ///
    /// Where nothing is to lose, to refuse the whole would help nobody: at the start, and where
    /// `old` names the file and has no value of it either. Such a file is noted, and looked for
    /// again by `refresh`. Until it can be used, requests that need it are refused
    /// (`Configuration.resolve`), and no others.
    public mutating func fill(
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
                configuration.secretFaults[path] = error.reason
                notes.append(
                    Note(path: path, reason: "\(error.reason): what needs it is refused"))
            }
        }
        // Until all of them are good the values of before hold, and so do their stamps.
        guard problems.isEmpty else { throw ConfigurationFileError(path: path, problems) }
        (stamps, unreadable) = (found, missing)
    }

    /// Files that a configuration names and has no value of.
    private static func missed(by configuration: Configuration) -> Set<String> {
        Set(configuration.secretFiles.filter { configuration.secrets[$0] == nil })
    }

    /// The first file of `next` that another process could not use now, although `current` has a
    /// value of it: that is lost with this process. Of a file without a value nothing is lost.
    public static func loss(from current: Configuration, to next: Configuration) -> Note? {
        for path in next.secretFiles where current.secrets[path] != nil {
            do throws(SecretFileError) {
                _ = try SecretFile(path).text(isProfile: next.credentialsFiles.contains(path))
            } catch {
                return Note(path: path, reason: "\(error.reason): its last value would be lost")
            }
        }
        return nil
    }

    /// Whether there are files to look at.
    public func areUsed(by configuration: Configuration) -> Bool {
        !configuration.secrets.isEmpty || !unreadable.isEmpty
    }

    /// Reads those again that look different, or could not be read before. What cannot be read any
    /// more keeps its value, which is noted once.
    ///
    /// - Returns: whether any of them has changed.
    public mutating func refresh(_ configuration: inout Configuration) -> Bool {
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
                configuration.secretFaults[path] = nil
                hasChanged = true
            } catch {
                if unreadable.insert(path).inserted {
                    notes.append(Note(path: path, reason: "\(error.reason): its last value stays"))
                }
            }
        }
        return hasChanged
    }

    /// What was noted since the last call.
    public mutating func takeNotes() -> [Note] {
        defer { notes = [] }
        return notes
    }

    private mutating func noteAccess(_ status: FileStatus, _ path: String) {
        guard status.mode & 0o007 != 0 else { return }
        notes.append(Note(path: path, reason: "others may read this secret"))
    }
}

/// One secret file, opened: it belongs to whom it may, and only its owner may change it.
struct SecretFile: ~Copyable {
    private let file: RegularFile

    /// What the kernel says of it.
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

    /// Who may change a secret says what origins are told.
    private static func check(_ status: FileStatus) throws(SecretFileError) {
        guard [0, CurrentProcess.userID].contains(status.userID) else {
            throw SecretFileError(reason: "the secret belongs to user \(status.userID)")
        }
        guard status.mode & 0o022 == 0 else {
            throw SecretFileError(reason: "others than its owner may write the secret")
        }
    }

    /// What it has, as the configuration uses it.
    borrowing func text(isProfile: Bool) throws(SecretFileError) -> String {
        isProfile ? try credentials() : try text()
    }

    /// A file of Amazon's tools with credentials of S3 (`S3Credentials`), as it is.
    private borrowing func credentials() throws(SecretFileError) -> String {
        guard let text = String(validating: try bytes(), as: UTF8.self),
            S3Credentials(profileFile: text) != nil
        else {
            throw SecretFileError(
                reason: "it has no profile [default] with aws_access_key_id and "
                    + "aws_secret_access_key")
        }
        return text
    }

    /// Its one line without the end.
    private borrowing func text() throws(SecretFileError) -> String {
        let bytes = try bytes()
        let line = bytes.last == 0x0A ? bytes.dropLast() : bytes[...]
        // Other bytes would go to the origin as something else than what is in the file.
        let valid = String(
            validating: line.last == 0x0D ? line.dropLast() : line, as: UTF8.self)
        guard let text = valid, !text.isEmpty, HTTPHeader(name: "a", value: text).isValid else {
            throw SecretFileError(reason: "a secret is one line of text in UTF-8")
        }
        return text
    }

    private borrowing func bytes() throws(SecretFileError) -> [UInt8] {
        let bytes: [UInt8]
        do throws(RegularFileError) {
            // One byte more than is taken tells a file that is too long.
            bytes = try file.bytes(max: SecretFiles.bytesMax + 1)
        } catch {
            throw SecretFileError(reason: "the secret \(error)")
        }
        guard bytes.count <= SecretFiles.bytesMax else {
            throw SecretFileError(
                reason: "the secret has more than \(SecretFiles.bytesMax) bytes")
        }
        return bytes
    }

    /// What it looks like; `nil` where a change that follows could look the same, since the time
    /// of the last one has no fractions of a second.
    func stamp(at now: Int64 = WallClock.seconds()) -> Stamp? {
        guard status.modifiedSeconds < now - 1 else { return nil }
        return Stamp(
            device: status.device, inode: status.inode, size: status.size,
            modifiedSeconds: status.modifiedSeconds)
    }

    /// Files of equal stamps have equal bytes.
    struct Stamp: Hashable, Sendable {
        let device: UInt64
        let inode: UInt64
        let size: Int
        let modifiedSeconds: Int64
    }
}

/// Why a secret cannot be used; never what is in it.
struct SecretFileError: Error {
    let reason: String
}

/// A file whose bytes are there: no pipe, no device, nothing that somebody has to write first. Who
/// reads it serves others meanwhile, and must not wait.
struct RegularFile: ~Copyable {
    /// What the kernel said of it when it was opened.
    let status: FileStatus
    private let file: FileDescriptor

    init(_ path: String) throws(RegularFileError) {
        let file = try Self.open(path)
        status = try Self.status(of: file)
        self.file = file
    }

    private static func open(_ path: String) throws(RegularFileError) -> FileDescriptor {
        do throws(Errno) {
            // Not blocking: a pipe would wait for its writer.
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

    /// All of them; an error where there are more.
    borrowing func bytes(max bytesMax: Int) throws(RegularFileError) -> [UInt8] {
        do throws(Errno) {
            return try file.readToEnd(bytesMax: bytesMax)
        } catch {
            throw .system(error)
        }
    }
}

/// Why a file is not read.
enum RegularFileError: Error, CustomStringConvertible {
    /// The kernel's reason.
    case system(Errno)
    /// A directory, a pipe, a device.
    case notRegular

    /// Stands behind the name of the file.
    var description: String {
        switch self {
        case .system(let error): "cannot be read (\(error))"
        case .notRegular: "is no regular file"
        }
    }
}
