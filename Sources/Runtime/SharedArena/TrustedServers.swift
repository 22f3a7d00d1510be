public import Linux

/// Whose coordinator may be talked to in a runtime directory that nobody named, such as
/// `/dev/shm/imagebus-UID`: anybody may have made something at such a place before.
///
/// Nobody but root and this user may change the directory and those above it. So whatever lies in
/// it was put there by one of them, and they chose the owner of the directory of a listener.
public struct TrustedServers: Hashable, Sendable {
    /// Root, this user, and the owner of the listener's directory.
    public let userIDs: Set<UInt32>

    /// Checks every directory of the absolute path `root`, and that of the listener `front` or
    /// `admin` in it. `nil`: nothing is there, so nobody serves.
    ///
    /// What was checked stays so: in each directory only trusted users may put one thing in the
    /// place of another.
    public init?(
        in root: String, listener: String, user: UInt32 = CurrentProcess.userID
    ) throws(UntrustedDirectoryError) {
        let trusted: Set<UInt32> = [0, user]
        var path = ""
        let names = root.split(separator: "/")
        for name in names {
            guard
                try Self.check(
                    path.isEmpty ? "/" : path, owners: trusted, user: user, maySticky: true)
                    != nil
            else { return nil }
            path += "/\(name)"
        }
        guard try Self.check(path, owners: trusted, user: user) != nil else { return nil }
        let keeper = try Self.check("\(path)/\(listener)", owners: nil, user: user)
        userIDs = keeper.map { trusted.union([$0]) } ?? trusted
    }

    /// The owner of a directory that may be trusted; `nil` where it is missing.
    ///
    /// With `maySticky` others may add entries, and still not replace what is there.
    private static func check(
        _ path: String, owners: Set<UInt32>?, user: UInt32, maySticky: Bool = false
    ) throws(UntrustedDirectoryError) -> UInt32? {
        let status: FileStatus
        do throws(Errno) {
            status = try FileDescriptor.status(path: path)
        } catch .noSuchFile {
            return nil
        } catch {
            throw .system(path, error)
        }
        guard owners?.contains(status.userID) != false else {
            throw .foreign(path, owner: status.userID, user: user)
        }
        guard status.type == .directory else { throw .notDirectory(path) }
        guard status.mode & 0o022 == 0 || (maySticky && status.mode & 0o1000 != 0) else {
            throw .writable(path, mode: status.mode)
        }
        return status.userID
    }
}
