import Model
import TestKit

/// An output space on the heap, with a limit, that records its use.
final class HeapSpace: SharingSpace {
    struct Account: Sendable {
        var nextID: UInt64 = 1
        var live: [UInt64: OutputBlock] = [:]
        /// IDs of each shared block's bytes.
        var ids: [Int: Int] = [:]
        /// Reserved sizes in order.
        var reservations: [Int] = []
        var usedBytes = 0
        var usedBytesMax = 0
    }

    private let account = Monitor(Account())
    private let bytesMax: Int

    init(bytesMax: Int = 1 << 30) {
        self.bytesMax = bytesMax
    }

    deinit {
        for bytes in Set(account.current.live.values.map { Int(bitPattern: $0.bytes.baseAddress) })
        {
            UnsafeMutableRawPointer(bitPattern: bytes)?.deallocate()
        }
    }

    var reservations: [Int] { account.current.reservations }
    var liveCount: Int { account.current.live.count }
    var usedBytesMax: Int { account.current.usedBytesMax }

    func reserve(_ bytes: Int) throws(ImageError) -> OutputBlock {
        try account.withLock { (account) throws(ImageError) -> OutputBlock in
            guard account.usedBytes + bytes <= bytesMax else {
                throw ImageError(.arenaFull, "no room for \(bytes) bytes")
            }
            let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes, alignment: 64)
            let block = OutputBlock(
                id: BlockID(account.nextID), arena: .stage, segment: 1, offset: 0, bytes: memory)
            account.live[account.nextID] = block
            account.nextID += 1
            account.reservations.append(bytes)
            account.usedBytes += bytes
            account.usedBytesMax = max(account.usedBytesMax, account.usedBytes)
            return block
        }
    }

    func discard(_ block: OutputBlock) {
        let isLast = account.withLock { account in
            guard account.live.removeValue(forKey: block.id.value) != nil else {
                preconditionFailure("a block was given back twice")
            }
            let start = Int(bitPattern: block.bytes.baseAddress)
            if let ids = account.ids[start] {
                account.ids[start] = ids == 2 ? nil : ids - 1
                return false
            }
            account.usedBytes -= block.bytes.count
            return true
        }
        if isLast { block.bytes.deallocate() }
    }

    func share(_ block: OutputBlock) -> OutputBlock? {
        account.withLock { account in
            guard account.live[block.id.value] != nil else { return nil }
            let other = OutputBlock(
                id: BlockID(account.nextID), arena: block.arena, segment: block.segment,
                offset: block.offset, bytes: block.bytes)
            account.live[account.nextID] = other
            account.nextID += 1
            account.ids[Int(bitPattern: block.bytes.baseAddress), default: 1] += 1
            return other
        }
    }

    func isInUse(_ id: BlockID) -> Bool { account.current.live[id.value] != nil }

    /// Frees the block of a reference.
    func free(_ id: BlockID) {
        if let block = account.current.live[id.value] { discard(block) }
    }

    /// The bytes of a reference.
    func bytes(_ reference: BlockReference) -> [UInt8]? {
        account.current.live[reference.block.value].map {
            Array($0.bytes[..<Int(reference.length)])
        }
    }
}
