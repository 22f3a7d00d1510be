import ImageModel
import Messages
import StageContract
import TestKit

/// An output space on the heap, with a limit, that keeps account.
final class HeapSpace: OutputSpace {
    struct Account: Sendable {
        var nextID: UInt64 = 1
        var live: [UInt64: OutputBlock] = [:]
        /// What was asked for, in order.
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
        for block in account.current.live.values { block.bytes.deallocate() }
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

    func resize(
        _ block: OutputBlock, to bytes: Int, keeping: Int
    ) throws(ImageError) -> OutputBlock {
        if block.bytes.count >= bytes { return block }
        let larger = try reserve(bytes)
        larger.bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: block.bytes[..<keeping]))
        discard(block)
        return larger
    }

    func discard(_ block: OutputBlock) {
        account.withLock { account in
            guard account.live.removeValue(forKey: block.id.value) != nil else {
                preconditionFailure("a block was given back twice")
            }
            account.usedBytes -= block.bytes.count
        }
        block.bytes.deallocate()
    }

    /// The bytes that a reference names.
    func bytes(_ reference: BlockReference) -> [UInt8]? {
        account.current.live[reference.block.value].map {
            Array($0.bytes[..<Int(reference.length)])
        }
    }
}
