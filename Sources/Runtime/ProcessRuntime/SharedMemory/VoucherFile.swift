public import Linux
public import Model

/// The voucher file of one listener, from the side of the coordinator, which is its only writer.
///
/// When the value is destroyed, all vouchers are withdrawn and the file is removed.
public struct VoucherFile: ~Copyable {
    private let file: NumberFile
    private let words: UInt64

    /// Creates the file of this incarnation in a listener's directory, readable by everyone who may
    /// connect there.
    ///
    /// Throws ENOSPC if the file system is full.
    public init(in directory: String, epoch: Epoch, words: Int) throws(Errno) {
        precondition(
            (1...VoucherLayout.wordsMax).contains(words),
            "the number of words must be within its limit")
        file = try NumberFile(
            VoucherLayout.fileName(epoch), in: directory, mode: 0o640,
            byteCount: VoucherLayout.byteCount(words: words))
        self.words = UInt64(words)
        for (index, byte) in epoch.value.bytes.enumerated() {
            let offset = VoucherLayout.epochOffset + index
            file.base.storeBytes(of: byte, toByteOffset: offset, as: UInt8.self)
        }
        file.store(UInt64(words), at: VoucherLayout.countOffset)
        file.store(VoucherLayout.magic, at: VoucherLayout.magicOffset)
    }

    deinit {
        file.store(.max, at: VoucherLayout.floorOffset)
        file.unlink()
    }

    /// Sets word `index` to `number`.
    public borrowing func set(_ index: UInt64, to number: UInt64) {
        precondition(index < words, "the word must exist")
        file.store(number, at: VoucherLayout.headerBytes + 8 * Int(index))
    }

    /// Withdraws all vouchers with numbers below `floor`.
    public borrowing func raise(to floor: UInt64) {
        file.store(floor, at: VoucherLayout.floorOffset)
    }

    /// Withdraws all vouchers that previous coordinators issued at a listener, which this process
    /// now owns: clients that haven't noticed the replacement stop repeating answers.
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
        SharedAtomic.storeRelease(.max, to: base + VoucherLayout.floorOffset)
    }
}

/// The layout of a voucher file (SEMANTICS §5.24); numbers are 64-bit little-endian.
enum VoucherLayout {
    /// The bytes before the words: one page.
    static let headerBytes = 4_096
    /// "IBUSVCH" and version 1.
    static let magic: UInt64 = 0x0148_4356_5355_4249

    static let magicOffset = 0
    static let countOffset = 8
    /// 16 bytes, as on the wire.
    static let epochOffset = 16
    static let floorOffset = 64

    /// An upper bound for the number of words that a stack issues vouchers for.
    static let wordsMax = 1 << 24

    static func byteCount(words: Int) -> Int { headerBytes + 8 * words }

    static let prefix = "vouchers."

    static func fileName(_ epoch: Epoch) -> String { prefix + epoch.value.hex }
}

/// The voucher file from a client's side. Read-only; may be used from any thread.
public final class VoucherReader: Sendable {
    private let memory: MappedMemory
    private let words: UInt64

    /// Opens the file of a coordinator's incarnation next to the socket that it serves; `nil` if it
    /// doesn't exist or has another number of words.
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

    /// The location of a voucher's word.
    public struct Word: Sendable {
        /// The number of the voucher.
        public let number: UInt64
        fileprivate let offset: Int
    }

    /// Returns the word for a voucher number.
    public func word(of number: UInt64) -> Word {
        Word(number: number, offset: VoucherLayout.headerBytes + 8 * Int(number % words))
    }

    /// Returns whether a voucher is valid at this moment, except for its expiry. Sees every earlier
    /// withdrawal.
    public func stands(_ word: Word) -> Bool {
        guard let base = memory.bytes.baseAddress else { return false }
        let value = UInt64(littleEndian: SharedAtomic.loadAcquire(base + word.offset))
        let floor = UInt64(littleEndian: SharedAtomic.loadAcquire(base + VoucherLayout.floorOffset))
        return value == word.number && word.number >= floor
    }
}
