import Linux
import Sodium

/// The key of an installation, in a file of its own: made where it is missing, whole or not at all.
struct IdentityKeyFile {
    let path: String

    /// Reads the key; links are followed, since a key may be mounted as one. Where there is no
    /// file, makes one of mode 0600 in the directory of the path, and follows no link for that.
    func key() throws(IdentityKeyError) -> [UInt8] {
        if let key = try read() { return key }
        do throws(Errno) {
            if let key = try make() { return key }
        } catch {
            throw IdentityKeyError(path: path, fault: .notMade(error))
        }
        // Another coordinator was faster.
        guard let key = try read() else {
            throw IdentityKeyError(path: path, fault: .deadLink)
        }
        return key
    }

    /// `nil`: there is none.
    private func read() throws(IdentityKeyError) -> [UInt8]? {
        let key: [UInt8]
        do throws(Errno) {
            // A pipe is not waited for.
            let file = try FileDescriptor.open(path, [.readOnly, .nonBlocking])
            key = try file.readToEnd(bytesMax: KeyedDigest.keyLength)
        } catch .noSuchFile {
            return nil
        } catch .fileTooLarge {
            throw IdentityKeyError(path: path, fault: .length)
        } catch {
            throw IdentityKeyError(path: path, fault: .unreadable(error))
        }
        guard key.count == KeyedDigest.keyLength else {
            throw IdentityKeyError(path: path, fault: .length)
        }
        return key
    }

    /// Writes a new key beside the file and gives it its name once it is on the disk, so that no
    /// crash leaves a part of one. `nil`: something has that name by now, and stays.
    private func make() throws(Errno) -> [UInt8]? {
        let (directory, name) = place
        let folder = try FileDescriptor.open(directory, .directory)
        let draft = name + Self.draftSuffix
        // Not emptied: it may be what another coordinator is about to rename. What a crash has
        // left of one is as long as a key at most, and is written over.
        let file = try folder.open(draft, [.writeOnly, .create, .noFollow], mode: 0o600)
        // Who holds it alone may give the name, so nothing is ever replaced.
        try file.lock(.exclusive)
        guard try Self.isFree(name, in: folder) else {
            try? folder.unlink(draft)
            return nil
        }
        let key = Random.bytes(count: KeyedDigest.keyLength)
        try file.writeAll(key)
        guard try file.status().size == key.count else { throw .fileTooLarge }
        try file.synchronize()
        try folder.rename(draft, to: name)
        // Not every file system can: at worst the next start makes another key.
        try? folder.synchronize()
        // Held until here.
        try? file.unlock()
        return key
    }

    /// The directory, and the name in it.
    private var place: (directory: String, name: String) {
        guard let cut = path.lastIndex(of: "/") else { return (".", path) }
        return (
            cut == path.startIndex ? "/" : String(path[..<cut]),
            String(path[path.index(after: cut)...])
        )
    }

    /// A link has its name even where it leads to nothing.
    private static func isFree(
        _ name: String, in folder: borrowing FileDescriptor
    ) throws(Errno) -> Bool {
        do throws(Errno) {
            _ = try folder.status(of: name)
            return false
        } catch .noSuchFile {
            return true
        }
    }

    /// Behind the name of the file, until it is whole.
    static let draftSuffix = ".new"
}

/// The key file cannot be used; says what to do.
struct IdentityKeyError: Error, Hashable, CustomStringConvertible {
    /// What is wrong with it.
    enum Fault: Hashable {
        /// It has not as many bytes as a key.
        case length
        /// It is there, and the kernel does not let it be read.
        case unreadable(Errno)
        /// It is a link to nothing.
        case deadLink
        /// It is not there, and cannot be written.
        case notMade(Errno)
    }

    let path: String
    let fault: Fault

    var description: String { "\(path), the key by which users are told apart, \(reason)" }

    private var reason: String {
        switch fault {
        case .length:
            "has not \(KeyedDigest.keyLength) bytes: put it back, or remove it, and a new one is "
                + "made; what is cached for users is then loaded anew"
        case .unreadable(let errno):
            "cannot be read (\(errno)): user \(CurrentProcess.userID) has to be permitted to, or "
                + "another file named (IMAGEBUS_SECRET_FILE)"
        case .deadLink:
            "is a link to nothing: put the file there, or remove the link, and a new one is made"
        case .notMade(let errno):
            "cannot be made (\(errno)): its directory has to be there, and user "
                + "\(CurrentProcess.userID) to be permitted to make \(path)"
                + "\(IdentityKeyFile.draftSuffix) and to rename it, or another file named "
                + "(IMAGEBUS_SECRET_FILE)"
        }
    }
}
