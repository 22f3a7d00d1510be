import Linux
public import Messages

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
