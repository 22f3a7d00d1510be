public import ImageModel
public import Messages
public import StageContract

/// The arena of `results/`, which clients read while it is written.
public protocol ResultSpace: OutputSpace {
    /// The block's bytes are complete: readers find its id from now on. Once for each block, before
    /// its reference travels.
    func publish(_ block: OutputBlock)
    /// Gives a block up that readers may still have mapped: its memory is not used again for
    /// another block where it could be mapped (SEMANTICS §14.6).
    func retire(_ id: BlockID)
}

/// Where the bytes lie that jobs name: other processes' segments.
public protocol PayloadSource: Sendable {
    /// Looks whether the bytes are there, without reading them.
    /// - Throws: where the segment is gone, or shorter than the reference says.
    func check(_ reference: BlockReference) throws(ImageError)
    /// Copies the payload to the start of `target`, which holds it. Any thread.
    ///
    /// - Throws: where the segment is gone, or shorter than the reference says.
    func copy(
        _ reference: BlockReference, into target: UnsafeMutableRawBufferPointer
    ) throws(ImageError)
}
