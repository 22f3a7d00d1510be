public import Configuration
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
