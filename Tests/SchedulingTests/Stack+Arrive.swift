import Model

@testable import Coordinator

// Bytes of a transfer arrive.
extension Stack {
    /// That many bytes of the oldest transfer have arrived. Returns the block with them.
    @discardableResult
    mutating func arrive(
        _ bytes: UInt64, of expected: UInt64 = 100_000, as format: ImageFormat = .jpeg,
        received: UInt64? = nil
    ) -> BlockID {
        let held = held(.fetch)[0]
        let block = block(of: held.worker, length: bytes)
        send(
            .progress(
                held.worker,
                JobProgress(
                    id: held.job.id, attempt: held.job.attempt, received: received ?? bytes,
                    expected: expected, arrived: block, format: format)))
        return block.block
    }
}
