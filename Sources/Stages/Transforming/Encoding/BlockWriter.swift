import ImageModel
import Messages
import StageContract

/// Collects bytes in a block that grows as they come.
final class BlockWriter<Space: OutputSpace> {
    private let space: Space
    private var block: OutputBlock
    private var count = 0
    /// Bytes that `next` has given, from the first on.
    private var handedOut = 0

    /// Why `append` answered false.
    private(set) var failure: ImageError?

    /// - Parameter estimate: bytes expected; a wrong guess costs a copy.
    init(_ space: Space, estimate: Int) throws(ImageError) {
        self.space = space
        block = try space.reserve(max(4096, estimate))
    }

    /// Adds bytes; false where there is no space for them.
    func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard grow(by: bytes.count) else { return false }
        UnsafeMutableRawBufferPointer(rebasing: block.bytes[count...]).copyMemory(from: bytes)
        count += bytes.count
        return true
    }

    /// Adds bytes before those from `place` on; false where there is no space for them.
    func insert(_ bytes: [UInt8], at place: Int) -> Bool {
        guard grow(by: bytes.count) else { return false }
        let behind = UnsafeMutableRawBufferPointer(rebasing: block.bytes[(place + bytes.count)...])
        behind.copyMemory(from: UnsafeRawBufferPointer(rebasing: self.bytes[place...]))
        UnsafeMutableRawBufferPointer(rebasing: block.bytes[place...]).copyBytes(from: bytes)
        written(count + bytes.count)
        return true
    }

    /// Memory for at least so many bytes more, which count as written once it is asked again; nil
    /// where there is no space for them.
    func next(_ minimum: Int) -> UnsafeMutableRawBufferPointer? {
        count = handedOut
        guard grow(by: minimum) else { return nil }
        handedOut = block.bytes.count
        return UnsafeMutableRawBufferPointer(rebasing: block.bytes[count...])
    }

    /// Of all that `next` gave, the first so many bytes count as written.
    func written(_ count: Int) {
        self.count = count
        handedOut = count
    }

    /// The bytes so far, valid until more are added.
    var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(block.bytes)[..<count])
    }

    /// Forgets all bytes so far; the space stays.
    func restart() { (count, handedOut) = (0, 0) }

    /// A reference to the bytes; the block is the outcome's from now on.
    func finish() -> BlockReference {
        block.reference(length: count)
    }

    /// Gives the block back.
    func discard() {
        space.discard(block)
    }

    private func grow(by more: Int) -> Bool {
        guard count + more > block.bytes.count else { return true }
        do {
            block = try space.resize(
                block, to: max(count + more, 2 * block.bytes.count), keeping: count)
            return true
        } catch {
            failure = error
            return false
        }
    }
}
