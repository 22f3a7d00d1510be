internal import Linux
internal import SQLite

/// Why the disk tier could not do something.
public struct DiskError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What follows from it.
    public enum Kind: String, Sendable, Hashable {
        /// Another process holds the cache directory.
        case inUse
        /// The cache directory belongs to somebody else, or others may write there.
        case unsafe
        /// No space, or the quota is used up.
        case full
        /// The file system or the permissions forbid writing.
        case readOnly
        /// The index is damaged, or is of another version.
        case badIndex
        /// It does not answer: an operation takes far too long.
        case stalled
        /// Anything else: input/output error, too many descriptors, …
        case failed
    }

    /// What follows from it.
    public let kind: Kind
    /// What happened, for logs and status.
    public let text: String

    /// Names a failure.
    public init(_ kind: Kind, _ text: String) {
        self.kind = kind
        self.text = text
    }

    /// `full: SQLite 13: database or disk is full`
    public var description: String { "\(kind.rawValue): \(text)" }

    init(_ error: SQLiteError) {
        let kind: Kind
        switch error.code {
        case .full: kind = .full
        case .readOnly: kind = .readOnly
        // Nothing here breaks a rule of the tables, unless what is in them does already.
        case .corrupt, .notADatabase, .error, .constraint, .mismatch: kind = .badIndex
        default: kind = .failed
        }
        self.init(kind, error.description)
    }

    /// Whatever calls of the index and of SQLite throw together.
    init(of error: any Error) {
        switch error {
        case let error as DiskError: self = error
        case let error as SQLiteError: self.init(error)
        default: self.init(.failed, "\(error)")
        }
    }

    init(_ error: Errno, _ what: String) {
        let kind: Kind
        switch error {
        case .noSpace, .quotaExceeded: kind = .full
        case .readOnlyFileSystem, .accessDenied, .notPermitted: kind = .readOnly
        default: kind = .failed
        }
        self.init(kind, "\(what): \(error)")
    }
}

/// Runs calls of SQLite and names their failure in the terms of the disk tier.
func onIndex<R>(_ body: () throws(SQLiteError) -> R) throws(DiskError) -> R {
    do { return try body() } catch { throw DiskError(error) }
}

/// Runs calls of the kernel and names their failure in the terms of the disk tier.
func onFiles<R: ~Copyable>(
    _ what: @autoclosure () -> String, _ body: () throws(Errno) -> R
) throws(DiskError) -> R {
    do { return try body() } catch { throw DiskError(error, what()) }
}
