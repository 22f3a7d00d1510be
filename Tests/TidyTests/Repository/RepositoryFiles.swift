import Glibc
import TestKit

/// The files of the repository that these tests were built from, or of another folder.
///
/// Build folders and hidden folders are left out, except `.ci`.
struct RepositoryFiles {
    let root: String

    init(root: String = RepositoryRoot.path) { self.root = root }

    /// Paths of all regular files below `folder`, relative to the root, sorted.
    func paths(below folder: String = "") -> [String] {
        var found: [String] = []
        var folders = [folder]
        while let next = folders.popLast() {
            for entry in Self.entries(of: absolute(next)) where !Self.isLeftOut(entry.name) {
                let path = next.isEmpty ? entry.name : next + "/" + entry.name
                switch entry.kind {
                case .folder: folders.append(path)
                case .file: found.append(path)
                }
            }
        }
        return found.sorted()
    }

    /// Names of the folders directly below `folder`, sorted.
    func folders(in folder: String) -> [String] {
        Self.entries(of: absolute(folder)).filter { $0.kind == .folder }.map(\.name).sorted()
    }

    /// The text of a file, or nil if it doesn't exist or isn't text.
    func text(of path: String) -> String? {
        guard let file = fopen(absolute(path), "r") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = fread(&chunk, 1, chunk.count, file)
            if count == 0 { break }
            bytes += chunk[..<count]
        }
        return bytes.contains(0) ? nil : String(validating: bytes, as: UTF8.self)
    }

    func exists(_ path: String) -> Bool { access(absolute(path), F_OK) == 0 }

    func isExecutable(_ path: String) -> Bool { access(absolute(path), X_OK) == 0 }

    func absolute(_ path: String) -> String { path.isEmpty ? root : root + "/" + path }

    private enum Kind { case file, folder }

    private static func isLeftOut(_ name: String) -> Bool { name.hasPrefix(".") && name != ".ci" }

    private static func entries(of folder: String) -> [(name: String, kind: Kind)] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var found: [(String, Kind)] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                String(cString: UnsafeRawPointer(pointer).assumingMemoryBound(to: CChar.self))
            }
            if name == "." || name == ".." { continue }
            switch Int(entry.pointee.d_type) {
            case Int(DT_DIR): found.append((name, .folder))
            case Int(DT_REG): found.append((name, .file))
            default: continue
            }
        }
        return found
    }
}
