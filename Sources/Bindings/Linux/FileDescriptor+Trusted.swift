import CLinux
import Glibc

/// Why a directory may be another one tomorrow, or could not be opened.
public enum UntrustedPath: Error, Hashable, Sendable {
    /// What speaks against the directory or link of this path.
    case fault(DirectoryRule.Fault, String, isAbove: Bool)
    /// The kernel refused.
    case system(Errno)
}

extension FileDescriptor {
    /// Opens a directory in whose place nobody but root and this user can put another one, and in
    /// which nobody else may write. Makes what is missing of its path (mode 0700).
    ///
    /// Every directory and link on the way belongs to root or this user. In none may others write,
    /// unless it is sticky: then they cannot take away what is not theirs. Each is opened in the
    /// one before, so that it is the one that was looked at.
    public static func openTrusted(_ path: String) throws(UntrustedPath) -> FileDescriptor {
        do {
            let start = path.hasPrefix("/") ? "" : try CurrentProcess.workingDirectory()
            var walk = TrustedWalk(
                along: "\(start)/\(path)", from: try .open("/", [.place, .directory]))
            try walk.check("/")
            while try walk.step() {}
            // A way that ends in `..` has only looked at it as one on the way.
            try walk.checkEnd()
            return try walk.directory.open(".", .directory)
        } catch let error as UntrustedPath {
            throw error
        } catch let error as Errno {
            throw .system(error)
        } catch {
            preconditionFailure("only these two are thrown: \(error)")
        }
    }
}

/// The way from the root to a directory, name by name.
private struct TrustedWalk: ~Copyable {
    /// Where it is: opened for what is in it alone (O_PATH).
    private(set) var directory: FileDescriptor
    /// Its path, without links.
    private var path: [String] = []
    /// Names to come, the next one last.
    private var left: [String]
    private var links = 0

    /// As many as the kernel follows.
    private static let linksMax = 40

    init(along path: String, from root: consuming FileDescriptor) {
        directory = root
        left = Self.names(path).reversed()
    }

    private static func names(_ path: String) -> [String] {
        path.split(separator: "/").filter { $0 != "." }.map(String.init)
    }

    /// Goes on by one name; false at the end.
    mutating func step() throws -> Bool {
        guard let name = left.popLast() else { return false }
        if name == ".." {
            directory = try directory.open(name, [.place, .directory])
            _ = path.popLast()
            return true
        }
        if try status(name).type == .symbolicLink { try follow(name) } else { try enter(name) }
        return true
    }

    /// Of a name, which is made where it is missing.
    private borrowing func status(_ name: String) throws -> FileStatus {
        do throws(Errno) { return try directory.status(of: name) } catch .noSuchFile {}
        do throws(Errno) {
            try directory.makeDirectory(name)
            // Whatever the umask says.
            try directory.openDirectory(name).setMode(0o700)
        } catch .fileExists {}
        return try directory.status(of: name)
    }

    private mutating func enter(_ name: String) throws {
        directory = try directory.open(name, [.place, .directory, .noFollow])
        path.append(name)
        try check("/" + path.joined(separator: "/"))
    }

    /// A link is as good as who made it: in a sticky directory that may be anybody.
    private mutating func follow(_ name: String) throws {
        links += 1
        guard links <= Self.linksMax else { throw Errno.symbolicLink }
        let owner = try directory.status(of: name).userID
        guard DirectoryRule.above.owners?.contains(owner) == true else {
            let link = "/" + (path + [name]).joined(separator: "/")
            throw UntrustedPath.fault(.wrongOwner(owner), link, isAbove: true)
        }
        let target = try directory.target(of: name)
        if target.hasPrefix("/") {
            directory = try FileDescriptor.open("/", [.place, .directory])
            path = []
        }
        left += Self.names(target).reversed()
    }

    /// Whether what was found may be trusted.
    borrowing func checkEnd() throws { try check("/" + path.joined(separator: "/")) }

    /// Whether it may be trusted, here or on the way.
    borrowing func check(_ path: String) throws {
        let isAbove = !left.isEmpty
        switch DirectoryRule.above.fault(in: try directory.status()) {
        case nil: return
        case .wrongMode(let mode) where isAbove && mode & 0o1000 != 0: return
        case .some(let fault): throw UntrustedPath.fault(fault, path, isAbove: isAbove)
        }
    }
}
