internal import Linux

/// The files of the disk tier: `files/xx/<number>`, one body each behind its `BodyHeader`.
///
/// A file is written as `<number>.tmp` and renamed when it is whole, so that a process killed at
/// any instant leaves whole files and files to sweep. Nothing is synchronised to the device: after
/// a power failure a file may be short, empty or wrong, which its length and checksum show when it
/// is read, and then it is a miss. A cache need not pay more for what can be fetched again.
struct BodyFiles: Sendable {
    private let directory: CacheDirectory

    /// How the numbers are spread over directories; `xx` is a number's low byte.
    static let buckets = 256
    private static let folder = "files"
    private static let trash = "trash"
    private static let probe = "\(folder)/probe.tmp"

    init(in directory: CacheDirectory) {
        self.directory = directory
    }

    /// Makes `files` where it is missing, and removes what a probe left that was killed.
    func prepare() throws(DiskError) {
        try ensure(Self.folder)
        try? directory.root.unlink(Self.probe)
    }

    // MARK: - One file

    /// Writes a whole file; on failure nothing is left of it.
    func write(
        _ number: Int64, header: [UInt8], body: UnsafeRawBufferPointer
    ) throws(DiskError) {
        let temporary = Self.path(number) + ".tmp"
        do {
            let file = try create(temporary, in: Self.bucket(number))
            try file.writeAll(header)
            try file.writeAll(body)
            try file.close()
            try directory.root.rename(temporary, to: Self.path(number))
        } catch {
            try? directory.root.unlink(temporary)
            throw DiskError(error, "cannot write \(temporary)")
        }
    }

    /// Reads so many bytes from `offset` on with one call; false where the file has not so many,
    /// or where the device cannot read them.
    func read(
        _ number: Int64, from offset: Int, into buffer: UnsafeMutableRawBufferPointer
    ) throws(DiskError) -> Bool {
        try Self.onFile(number) { () throws(Errno) in
            let file = try open(number)
            do throws(Errno) {
                return try file.readFully(into: buffer, at: offset) == buffer.count
            } catch .inputOutput {
                return false
            }
        } ?? false
    }

    /// The bytes of a file, header and body; `nil` where it is missing.
    func size(_ number: Int64) throws(DiskError) -> Int? {
        try Self.onFile(number) { () throws(Errno) in
            try directory.root.status(of: Self.path(number)).size
        }
    }

    /// Removes a file; one that is missing is removed already.
    func remove(_ number: Int64) throws(DiskError) {
        _ = try Self.onFile(number) { () throws(Errno) in
            try directory.root.unlink(Self.path(number))
        }
    }

    /// The header of a whole file; `nil` where the file is missing, foreign or cut short.
    func header(_ number: Int64) throws(DiskError) -> (header: BodyHeader, length: Int)? {
        try Self.onFile(number) { () throws(Errno) in
            let file = try open(number)
            let start = try Self.bytes(of: file, count: BodyHeader.lengthMax)
            guard let length = BodyHeader.length(of: start), length <= start.count,
                let header = BodyHeader(Array(start[..<length])),
                try file.status().size == length + header.bodyLength
            else { return nil }
            return (header, length)
        } ?? nil
    }

    /// Whether a file can be written at all: one block, made and removed.
    func probe() throws(DiskError) {
        let name = Self.probe
        do {
            defer { try? directory.root.unlink(name) }
            let file = try directory.root.open(name, Self.writing)
            try file.writeAll([UInt8](repeating: 0, count: 4096))
            try file.close()
        } catch {
            throw DiskError(error, "cannot write \(name)")
        }
    }

    // MARK: - All files

    /// The numbers of one bucket; unfinished files in it are removed on the way.
    func numbers(inBucket bucket: Int) throws(DiskError) -> [Int64] {
        let name = "\(Self.folder)/\(hex(UInt64(bucket), digits: 2))"
        return try Self.onFile(name) { () throws(Errno) in
            let folder = try directory.root.openDirectory(name)
            var numbers: [Int64] = []
            for entry in try folder.entries() {
                if let number = Int64(entry, radix: 16),
                    (1...IndexRow.foundNumberMax).contains(number),
                    hex(UInt64(bitPattern: number), digits: 16) == entry
                {
                    numbers.append(number)
                } else if entry.hasSuffix(".tmp") {
                    try folder.unlink(entry)
                }
            }
            return numbers
        } ?? []
    }

    /// The largest number that a file has; 0 where there is none.
    func largestNumber() throws(DiskError) -> Int64 {
        var largest: Int64 = 0
        for bucket in 0..<Self.buckets {
            largest = max(largest, try numbers(inBucket: bucket).max() ?? 0)
        }
        return largest
    }

    /// Takes all files out of use at once; `emptyTrash` removes them bit by bit.
    func discardAll() throws(DiskError) {
        try ensure(Self.trash)
        do {
            // A name that no earlier discard used: the trash may not be empty yet.
            let used = Set(try directory.root.openDirectory(Self.trash).entries())
            let name = (0...used.count).lazy.map(String.init).first { !used.contains($0) } ?? "0"
            try directory.root.rename(Self.folder, to: "\(Self.trash)/\(name)")
        } catch .noSuchFile {
            // Nothing to discard.
        } catch {
            throw DiskError(error, "cannot discard \(Self.folder)")
        }
        try ensure(Self.folder)
    }

    /// Removes discarded files of one bucket until the time is over; false where nothing is left to
    /// remove.
    func emptyTrash(_ time: StepTime) throws(DiskError) -> Bool {
        try Self.onFile(Self.trash) { () throws(Errno) in
            let trash = try directory.root.openDirectory(Self.trash)
            guard let discarded = try trash.entries().first else { return false }
            let folder = try trash.openDirectory(discarded)
            if let bucket = try folder.entries().first {
                if try Self.removeFiles(in: folder.openDirectory(bucket), time) {
                    try folder.removeTree(bucket)
                }
            } else {
                try trash.removeDirectory(discarded)
            }
            return true
        } ?? false
    }

    /// False where the time was over before all were removed. What is no file stays.
    private static func removeFiles(
        in folder: borrowing FileDescriptor, _ time: StepTime
    ) throws(Errno) -> Bool {
        for name in try folder.entries() {
            do { try folder.unlink(name) } catch .isDirectory { continue }
            if time.isOver { return false }
        }
        return true
    }

    // MARK: - Names

    private static func bucket(_ number: Int64) -> String {
        "\(folder)/\(hex(UInt64(bitPattern: number) & 0xff, digits: 2))"
    }

    static func path(_ number: Int64) -> String {
        "\(bucket(number))/\(hex(UInt64(bitPattern: number), digits: 16))"
    }

    /// Another kind of file counts as missing; opening a FIFO does not wait for its writer.
    private func open(_ number: Int64) throws(Errno) -> FileDescriptor {
        let file = try directory.root.open(
            Self.path(number), [.readOnly, .noFollow, .nonBlocking])
        guard try file.status().type == .regular else { throw .noSuchFile }
        return file
    }

    private static let writing: OpenOptions = [
        .writeOnly, .create, .truncate, .noFollow, .nonBlocking,
    ]

    private func create(_ name: String, in bucket: String) throws(Errno) -> FileDescriptor {
        do {
            return try directory.root.open(name, Self.writing)
        } catch .noSuchFile {
            try directory.root.makeDirectory(bucket)
            return try directory.root.open(name, Self.writing)
        }
    }

    private func ensure(_ name: String) throws(DiskError) {
        do {
            try directory.root.makeDirectory(name)
        } catch .fileExists {
            return
        } catch {
            throw DiskError(error, "cannot make \(name)")
        }
    }

    static func bytes(
        of file: borrowing FileDescriptor, count: Int
    ) throws(Errno) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var span = bytes.mutableSpan
        var raw = span.mutableBytes
        let filled = try file.readFully(into: &raw, at: 0)
        bytes.removeLast(count - filled)
        return bytes
    }

    /// `nil` where the file is not there.
    private static func onFile<R>(
        _ number: Int64, _ body: () throws(Errno) -> R
    ) throws(DiskError) -> R? {
        try onFile(path(number), body)
    }

    private static func onFile<R>(
        _ name: String, _ body: () throws(Errno) -> R
    ) throws(DiskError) -> R? {
        do { return try body() } catch .noSuchFile { return nil } catch {
            throw DiskError(error, name)
        }
    }
}

private func hex(_ value: UInt64, digits: Int) -> String {
    let text = String(value, radix: 16)
    return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
}
