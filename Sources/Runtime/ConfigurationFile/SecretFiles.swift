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

    /// What was noted, until it is taken.
    private var notes: [Note] = []
    private var unreadable: Set<String> = []

    /// Nothing was read yet.
    public init() {}

    /// Reads all files of a configuration. Throws where one of them cannot be used: what the others
    /// hold is then of no use.
    public mutating func fill(
        _ configuration: inout Configuration, path: String
    ) throws(ConfigurationFileError) {
        var problems: [ConfigurationFileError.Problem] = []
        for file in configuration.secretFiles {
            do throws(SecretFileError) {
                configuration.secrets[file] = try read(file, tellsAccess: true)
            } catch {
                problems.append(.init(line: nil, "\(file): \(error.reason)"))
            }
        }
        unreadable = []
        guard problems.isEmpty else { throw ConfigurationFileError(path: path, problems) }
    }

    /// Reads them again. What cannot be read any more keeps its value, which is noted once.
    ///
    /// - Returns: whether any of them has changed.
    public mutating func refresh(_ configuration: inout Configuration) -> Bool {
        var hasChanged = false
        for (file, old) in configuration.secrets {
            do throws(SecretFileError) {
                let new = try read(file, tellsAccess: false)
                unreadable.remove(file)
                guard !new.utf8.elementsEqual(old.utf8) else { continue }
                configuration.secrets[file] = new
                hasChanged = true
            } catch {
                if unreadable.insert(file).inserted {
                    notes.append(Note(path: file, reason: "\(error.reason): its last value stays"))
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

    /// One line without its end.
    private mutating func read(
        _ path: String, tellsAccess: Bool
    ) throws(SecretFileError) -> String {
        let bytes: [UInt8]
        let status: FileStatus
        do throws(Errno) {
            // Not blocking: a pipe would wait for its writer.
            let file = try FileDescriptor.open(path, [.readOnly, .nonBlocking])
            status = try file.status()
            guard status.type == .regular else { throw Errno.invalidArgument }
            bytes = try file.readToEnd(bytesMax: Self.bytesMax + 1)
        } catch {
            throw SecretFileError(reason: "the secret cannot be read (\(error))")
        }
        if tellsAccess { noteAccess(status, path) }
        let line = bytes.last == 0x0A ? bytes.dropLast() : bytes[...]
        let text = String(decoding: line.last == 0x0D ? line.dropLast() : line, as: UTF8.self)
        guard bytes.count <= Self.bytesMax else {
            throw SecretFileError(reason: "the secret has more than \(Self.bytesMax) bytes")
        }
        guard !text.isEmpty, HTTPHeader(name: "a", value: text).isValid else {
            throw SecretFileError(reason: "a secret is one line of text")
        }
        return text
    }

    private mutating func noteAccess(_ status: FileStatus, _ path: String) {
        if status.mode & 0o007 != 0 {
            notes.append(Note(path: path, reason: "others may read this secret"))
        }
        guard [0, CurrentProcess.userID].contains(status.userID) else {
            return notes.append(
                Note(path: path, reason: "this secret belongs to user \(status.userID)"))
        }
    }
}

/// Why a secret cannot be used; never what is in it.
private struct SecretFileError: Error {
    let reason: String
}
