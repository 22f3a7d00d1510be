import Glibc

/// A directory of one test's own under /tmp, removed with everything in it at the end.
struct Scratch: ~Copyable {
    let path: String

    init() {
        var template = Array("/tmp/ib-XXXXXX".utf8CString)
        path = template.withUnsafeMutableBufferPointer { buffer in
            mkdtemp(buffer.baseAddress!).map { String(cString: $0) } ?? ""
        }
        precondition(!path.isEmpty, "mkdtemp in /tmp failed")
    }

    deinit {
        removeTree(path)
    }

    func file(_ name: String) -> String { path + "/" + name }
}

private func removeTree(_ path: String) {
    if let directory = opendir(path) {
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { removeTree(path + "/" + name) }
        }
        closedir(directory)
    }
    remove(path)
}
