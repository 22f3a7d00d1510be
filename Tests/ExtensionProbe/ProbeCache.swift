import ImagebusWorker
import Linux

/// A cache that keeps each value in a file named by its key in hexadecimal digits, so that a test
/// can read and change the stored bytes. For a key that contains the word, it fails to read
/// (`unread`), write (`unwritten`) or remove (`unmoved`).
struct ProbeCache: Cache {
    let folder: String

    func get(_ key: String) throws -> [UInt8]? {
        try check(key, "unread")
        guard let file = try? FileDescriptor.open(path(key)) else { return nil }
        return try file.readToEnd(bytesMax: 16 << 20)
    }

    func put(_ key: String, _ data: [UInt8], expires: Double?) throws -> Bool {
        try check(key, "unwritten")
        try FileDescriptor.open(path(key), [.writeOnly, .create, .truncate]).writeAll(data)
        return true
    }

    func remove(_ key: String) throws {
        try check(key, "unmoved")
        do throws(Errno) {
            try FileDescriptor.open(folder, [.directory]).unlink(name(key))
        } catch .noSuchFile {}
    }

    func contains(_ key: String) -> Bool { (try? FileDescriptor.open(path(key))) != nil }

    private func check(_ key: String, _ word: String) throws {
        if key.split(separator: "/").last?.hasPrefix(word) == true { throw Errno.noDevice }
    }

    private func path(_ key: String) -> String { folder + "/" + name(key) }

    private func name(_ key: String) -> String {
        key.utf8.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}
