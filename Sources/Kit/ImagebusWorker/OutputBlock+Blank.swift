import StageContract

extension OutputBlock {
    /// `count` of its bytes behind `offset`, all 0: a block is used again, and what an author does
    /// not write must not be a part of another image.
    func blank(_ count: Int, at offset: Int = 0) -> UnsafeMutableBufferPointer<UInt8> {
        UnsafeMutableRawBufferPointer(rebasing: bytes[offset..<offset + count])
            .initializeMemory(as: UInt8.self, repeating: 0)
    }
}
