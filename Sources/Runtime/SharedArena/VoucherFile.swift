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

/// Where things are in a file of vouchers (SEMANTICS §5.24); numbers are 64 bits, little-endian.
enum VoucherLayout {
    /// Bytes before the words: one page.
    static let headerBytes = 4_096
    /// "IBUSVCH" and version 1.
    static let magic: UInt64 = 0x0148_4356_5355_4249

    static let magicOffset = 0
    static let countOffset = 8
    /// 16 bytes, as on the wire.
    static let epochOffset = 16
    static let floorOffset = 64

    /// More words than any stack issues vouchers for.
    static let wordsMax = 1 << 24

    static func byteCount(words: Int) -> Int { headerBytes + 8 * words }

    static let prefix = "vouchers."

    static func fileName(_ epoch: Epoch) -> String { prefix + epoch.value.hex }
}

/// The file of vouchers from a client's side. Any thread; read-only.
public final class VoucherReader: Sendable {
    private let memory: MappedMemory
    private let words: UInt64

    /// Opens the file of a coordinator's life beside the socket at which it is served; `nil` where
    /// there is none, or none of that many words.
    public init?(besideSocket socket: String, epoch: Epoch, words: UInt32) {
        let folder = socket.split(separator: "/", omittingEmptySubsequences: false).dropLast()
            .joined(separator: "/")
        let count = VoucherLayout.byteCount(words: Int(words))
        guard (1...VoucherLayout.wordsMax).contains(Int(words)),
            let directory = try? FileDescriptor.openDirectory(folder.isEmpty ? "/" : folder),
            let file = try? directory.open(
                VoucherLayout.fileName(epoch), [.noFollow, .nonBlocking]),
            let status = try? file.status(), status.type == .regular, status.size == count,
            let memory = try? MappedMemory(file, count: count, access: .readOnly),
            Self.isRight(memory, epoch, words)
        else { return nil }
        self.memory = memory
        self.words = UInt64(words)
    }

    private static func isRight(
        _ memory: borrowing MappedMemory, _ epoch: Epoch, _ words: UInt32
    ) -> Bool {
        let bytes = memory.bytes
        func number(_ offset: Int) -> UInt64 {
            UInt64(littleEndian: bytes.load(fromByteOffset: offset, as: UInt64.self))
        }
        let named = bytes[VoucherLayout.epochOffset..<(VoucherLayout.epochOffset + 16)]
        return number(VoucherLayout.magicOffset) == VoucherLayout.magic
            && number(VoucherLayout.countOffset) == UInt64(words)
            && named.elementsEqual(epoch.value.bytes)
    }

    /// Where the word of a voucher is.
    public struct Word: Sendable {
        /// Of the voucher.
        public let number: UInt64
        fileprivate let offset: Int
    }

    /// The word of that number.
    public func word(of number: UInt64) -> Word {
        Word(number: number, offset: VoucherLayout.headerBytes + 8 * Int(number % words))
    }

    /// Whether the voucher of a word stands at this moment, its time apart. What was withdrawn
    /// before is seen.
    public func stands(_ word: Word) -> Bool {
        guard let base = memory.bytes.baseAddress else { return false }
        let value = UInt64(littleEndian: SharedAtomic.loadAcquire(base + word.offset))
        let floor = UInt64(littleEndian: SharedAtomic.loadAcquire(base + VoucherLayout.floorOffset))
        return value == word.number && word.number >= floor
    }
}
