public import Linux
public import Messages

/// The file of vouchers of one listener, from the coordinator's side: it alone writes.
///
/// A word is stored whole, so that who reads it sees the number before or after, and nothing else.
/// When the value ends, nothing stands any more, and the file is gone.
public struct VoucherFile: ~Copyable {
    private let memory: MappedMemory
    private let base: UnsafeMutableRawPointer
    private let words: UInt64
    private let directory: String
    private let name: String

    /// Makes the file of this life in a listener's directory, for whoever may connect there.
    ///
    /// Throws ENOSPC where its file system is full.
    public init(in directory: String, epoch: Epoch, words: Int) throws(Errno) {
        precondition((1...VoucherLayout.wordsMax).contains(words), "words within their limit")
        let name = VoucherLayout.fileName(epoch)
        let count = VoucherLayout.byteCount(words: words)
        let folder = try FileDescriptor.openDirectory(directory)
        let file = try folder.open(
            name, [.readWrite, .create, .exclusive, .noFollow], mode: Self.mode)
        let memory: MappedMemory
        do throws(Errno) {
            // Whatever the umask says: clients are in the group.
            try file.setMode(Self.mode)
            try file.reserve(byteCount: count)
            memory = try MappedMemory(file, count: count, access: .readWrite)
        } catch {
            try? folder.unlink(name)
            throw error
        }
        guard let base = memory.mutableBytes.baseAddress else { throw .invalidArgument }
        self.memory = memory
        self.base = base
        self.words = UInt64(words)
        self.directory = directory
        self.name = name
        for (index, byte) in epoch.value.bytes.enumerated() {
            let offset = VoucherLayout.epochOffset + index
            base.storeBytes(of: byte, toByteOffset: offset, as: UInt8.self)
        }
        store(UInt64(words), at: VoucherLayout.countOffset)
        store(VoucherLayout.magic, at: VoucherLayout.magicOffset)
    }

    deinit {
        Self.close(base)
        try? FileDescriptor.openDirectory(directory).unlink(name)
    }

    private static let mode: UInt32 = 0o640

    /// Word `index` has `number` from now on.
    public borrowing func set(_ index: UInt64, to number: UInt64) {
        precondition(index < words, "there is such a word")
        store(number, at: VoucherLayout.headerBytes + 8 * Int(index))
    }

    /// Numbers below `floor` have fallen.
    public borrowing func raise(to floor: UInt64) { store(floor, at: VoucherLayout.floorOffset) }

    private borrowing func store(_ value: UInt64, at offset: Int) {
        SharedAtomic.storeRelease(value.littleEndian, to: base + offset)
    }

    private static func close(_ base: UnsafeMutableRawPointer) {
        SharedAtomic.storeRelease(.max, to: base + VoucherLayout.floorOffset)
    }

    /// Withdraws what earlier coordinators issued at a listener, which nobody else may serve now:
    /// a client that has not noticed their end repeats nothing from then on.
    public static func closeAll(in directory: String) {
        guard let folder = try? FileDescriptor.openDirectory(directory) else { return }
        for name in (try? folder.entries()) ?? [] where name.hasPrefix(VoucherLayout.prefix) {
            closeOne(name, in: folder)
            try? folder.unlink(name)
        }
    }

    private static func closeOne(_ name: String, in folder: borrowing FileDescriptor) {
        guard let file = try? folder.open(name, [.readWrite, .noFollow, .nonBlocking]),
            let status = try? file.status(), status.type == .regular,
            status.size >= VoucherLayout.headerBytes,
            let memory = try? MappedMemory(
                file, count: VoucherLayout.headerBytes, access: .readWrite),
            let base = memory.mutableBytes.baseAddress
        else { return }
        close(base)
    }
}
