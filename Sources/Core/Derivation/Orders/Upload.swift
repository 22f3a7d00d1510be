package import Dispatching
package import ImageModel
package import Messages

/// Bytes that a client brought along, instead of a URL (PROTOCOL §10.1).
package struct Upload: Sendable {
    package let block: BlockHandle
    package let reference: BlockReference
    /// The key under which an operator puts them; `nil`: they are but the source of a result.
    package var key: String?
    /// Bytes of the operator that are kept beside them.
    package var extendedData: ExtendedData?

    package init(block: BlockHandle, reference: BlockReference) {
        (self.block, self.reference) = (block, reference)
    }
}
