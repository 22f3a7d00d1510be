/// Who may own a directory, and what its mode may not grant, for what lies in it to be believed.
public struct DirectoryRule: Hashable, Sendable {
    /// nil: whoever it is.
    public let owners: Set<UInt32>?
    /// None of these bits may be set.
    public let forbiddenModeBits: UInt32
    /// Whether its group may write there, if nobody can remove what is somebody else's.
    public let isShared: Bool

    /// A rule of one's own.
    public init(owners: Set<UInt32>?, forbiddenModeBits: UInt32, isShared: Bool = false) {
        self.owners = owners
        self.forbiddenModeBits = forbiddenModeBits
        self.isShared = isShared
    }

    /// Ours, and nobody else changes it.
    public static let own = DirectoryRule(
        owners: [CurrentProcess.userID], forbiddenModeBits: 0o022)
    /// Ours, and nobody else even looks into it.
    public static let secret = DirectoryRule(
        owners: [CurrentProcess.userID], forbiddenModeBits: 0o077)
    /// Ours or an administrator's, who may have made it for us; nobody else changes it.
    public static let above = DirectoryRule(
        owners: [0, CurrentProcess.userID], forbiddenModeBits: 0o022)
    /// Somebody else's, who alone changes it.
    public static let others = DirectoryRule(owners: nil, forbiddenModeBits: 0o022)

    /// Of that user or ours, and written by its group.
    public static func shared(by owner: UInt32) -> DirectoryRule {
        DirectoryRule(
            owners: [owner, CurrentProcess.userID], forbiddenModeBits: 0o002, isShared: true)
    }

    /// What speaks against a directory.
    public enum Fault: Hashable, Sendable {
        case notDirectory
        /// It belongs to this user.
        case wrongOwner(UInt32)
        /// Its mode, which grants too much.
        case wrongMode(UInt32)
    }

    /// The first thing that speaks against the directory of this status; nil where nothing does.
    public func fault(in status: FileStatus) -> Fault? {
        if status.type != .directory { return .notDirectory }
        if owners?.contains(status.userID) == false { return .wrongOwner(status.userID) }
        return permits(mode: status.mode) ? nil : .wrongMode(status.mode)
    }

    private func permits(mode: UInt32) -> Bool {
        mode & forbiddenModeBits == 0
            && (!isShared || mode & 0o020 == 0 || mode & 0o1000 != 0)
    }
}
