package import Linux

/// Output that a command was told to write and cannot.
package struct OutputError: Error, Hashable {
    /// The path, or `standardOutput`.
    package let destination: String
    package let reason: Errno
    /// Whether it came so far that there was something to write to.
    package let wasOpened: Bool

    package init(destination: String, reason: Errno, wasOpened: Bool) {
        (self.destination, self.reason, self.wasOpened) = (destination, reason, wasOpened)
    }

    package static let standardOutput = "standard output"

    /// EX_CANTCREAT, EX_IOERR.
    package static let exitStatuses: (cannotCreate: Int32, cannotWrite: Int32) = (73, 74)
    /// What a shell says of a program that SIGPIPE ended.
    package static let unreadStatus: Int32 = 141

    /// Whoever read the output wants no more of it. That is no failure to speak of.
    package var isUnread: Bool { reason == .brokenPipe }

    package var exitStatus: Int32 {
        if isUnread { return Self.unreadStatus }
        return wasOpened ? Self.exitStatuses.cannotWrite : Self.exitStatuses.cannotCreate
    }
}

extension OutputError: CustomStringConvertible {
    /// `outputFailed: /a/b.jpg cannot be written (ENOENT: …): make its directory first, or …`
    package var description: String { "\(Self.name): \(message)" }

    /// As in the table of errors, which it is not in: no other process knows of it.
    package static let name = "outputFailed"

    package var message: String {
        "\(destination) cannot be \(wasOpened ? "written" : "created") (\(reason)): \(advice)"
    }

    private var advice: String {
        switch reason {
        case .noSuchFile: "make its directory first, or name another file"
        case .isDirectory: "it is a directory; name a file in it"
        case .notDirectory: "a part of the path is a file; name another one"
        case .accessDenied, .notPermitted, .readOnlyFileSystem:
            "name a file where user \(CurrentProcess.userID) may write"
        case .noSpace, .quotaExceeded, .fileTooLarge: "make room there, or write elsewhere"
        case .badDescriptor: "it is not open for writing; redirect it, or name a file with -o"
        default: "write elsewhere"
        }
    }
}
