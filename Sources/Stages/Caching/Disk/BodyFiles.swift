internal import Linux

/// The files of the disk tier: `files/xx/<number>`, each containing one body after its
/// `BodyHeader`.
///
/// A file is written as `<number>.tmp` and renamed when complete, so that killing the process at
/// any time leaves only complete files and temporary files to sweep. Nothing is synced to the
/// device: after a power failure a file may be truncated, empty or wrong, which its length and
/// checksum reveal when it is read; it is then a miss. A cache doesn't need to pay more for data
/// that can be fetched again.
struct BodyFiles: Sendable {
    private let directory: CacheDirectory

    /// The number of subdirectories; `xx` is the low byte of the number.
    static let buckets = 256
    private static let folder = "files"
    private static let trash = "trash"
    private static let probe = "\(folder)/probe.tmp"

    init(in directory: CacheDirectory) {
        self.directory = directory
    }

    /// Creates `files` if it is missing, and removes a leftover of an interrupted probe.
    func prepare() throws(DiskError) {
        try ensure(Self.folder)
        try? directory.root.unlink(Self.probe)
    }

    // MARK: - One file

    /// Writes a complete file; on failure it is removed.
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

    /// Reads bytes starting at `offset` with one call; returns false if the file is too short or
    /// the device can't read it.
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

    /// Returns the size of a file, header and body; `nil` if it doesn't exist.
    func size(_ number: Int64) throws(DiskError) -> Int? {
        try Self.onFile(number) { () throws(Errno) in
            try directory.root.status(of: Self.path(number)).size
        }
    }

    /// Removes a file, if it exists.
    func remove(_ number: Int64) throws(DiskError) {
        _ = try Self.onFile(number) { () throws(Errno) in
            try directory.root.unlink(Self.path(number))
        }
    }

    /// Returns the header of a complete file; `nil` if the file is missing, invalid or truncated.
    func header(_ number: Int64) throws(DiskError) -> (header: BodyHeader, length: Int)? {
        try Self.onFile(number) { () throws(Errno) in
            let file = try open(number)
            let start = try file.bytes(count: BodyHeader.lengthMax)
            guard let length = BodyHeader.length(of: start), length <= start.count,
                let header = BodyHeader(Array(start[..<length])),
                try file.status().size == length + header.bodyLength
            else { return nil }
            return (header, length)
        } ?? nil
    }

    /// Checks that a file can be written, by creating and removing one of one block.
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

    /// Returns the numbers of one bucket, and removes its temporary files.
    func numbers(inBucket bucket: Int) throws(DiskError) -> [Int64] {
        let name = "\(Self.folder)/\(hex(UInt64(bucket), digits: 2))"
        return try onFiles(name, except: .noSuchFile) { () throws(Errno) in
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

    /// Returns the largest number of a file; 0 if there are none.
    func largestNumber() throws(DiskError) -> Int64 {
        var largest: Int64 = 0
        for bucket in 0..<Self.buckets {
            largest = max(largest, try numbers(inBucket: bucket).max() ?? 0)
        }
        return largest
    }

    /// Moves all files to the trash at once; `emptyTrash` removes them step by step.
    func discardAll() throws(DiskError) {
        try ensure(Self.trash)
        _ = try onFiles("cannot discard \(Self.folder)", except: .noSuchFile) {
            () throws(Errno) in
            // A name that no earlier call used, because the trash may not be empty yet.
            let used = Set(try directory.root.openDirectory(Self.trash).entries())
            let name = (0...used.count).lazy.map(String.init).first { !used.contains($0) } ?? "0"
            try directory.root.rename(Self.folder, to: "\(Self.trash)/\(name)")
        }
        try ensure(Self.folder)
    }

    /// Removes discarded files of one bucket until the time limit; returns false if nothing is
    /// left.
    func emptyTrash(_ time: StepTime) throws(DiskError) -> Bool {
        try onFiles(Self.trash, except: .noSuchFile) { () throws(Errno) in
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

    /// Returns false if the time limit was reached first. Anything but files stays.
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

    /// Opens a file; other file types count as missing. Nonblocking, so that a FIFO doesn't wait
    /// for its writer.
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
        _ = try onFiles("cannot create \(name)", except: .fileExists) { () throws(Errno) in
            try directory.root.makeDirectory(name)
        }
    }

    /// Returns `nil` if the file doesn't exist.
    private static func onFile<R>(
        _ number: Int64, _ body: () throws(Errno) -> R
    ) throws(DiskError) -> R? {
        try onFiles(path(number), except: .noSuchFile, body)
    }
}

private func hex(_ value: UInt64, digits: Int) -> String {
    let text = String(value, radix: 16)
    return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
}
