package import ImageModel
package import Messages

// Bytes in shared memory: what is in use, what is free (SEMANTICS §9.6).
extension Dispatcher {
    /// Takes the blocks of an accepted result into use, each with one hold. Results of the cache
    /// lie in `results/` and are its own.
    mutating func take(_ result: JobResult, from worker: WorkerID) -> ShortList<BlockHandle> {
        var blocks = ShortList<BlockHandle>()
        for reference in result.references where reference.arena == .stage {
            blocks.append(ledger.take(reference, from: worker, as: result.format))
        }
        return blocks
    }

    /// Takes bytes into use that came along with a request and look like that format; the first
    /// hold is the caller's. Throws *protocolViolation* where they are not in a segment of the
    /// coordinator's own.
    package mutating func takeUpload(
        _ reference: BlockReference, as format: ImageFormat?
    ) throws(ImageError) -> (reference: BlockReference, block: BlockHandle) {
        let checked = try ledger.check(reference, from: .coordinator, in: .stage)
        return (checked, ledger.take(checked, from: .coordinator, as: format))
    }

    /// The blocks of a result that nobody wants are free at once; one that is in use came with an
    /// earlier outcome and has its holders. A forged reference ends the session.
    mutating func discard(_ result: JobResult, from worker: WorkerID) {
        let unused = result.references.filter {
            !ledger.isLive(BlockHandle(worker: worker, block: $0.block))
        }
        do throws(ImageError) {
            let checked = try ledger.check(ShortList(contentsOf: unused), from: worker)
            for reference in checked where reference.arena == .results {
                complete(.unclaimed(reference, worker))
            }
            let blocks = checked.filter { $0.arena == .stage }
            release(
                blocks.map(\.block), of: worker, bytes: blocks.reduce(0) { $0 + $1.length })
        } catch {
            expel(worker, error)
        }
    }

    /// The reference with its producer, if that worker has the bytes in `results/`; a worker that
    /// lies loses its session.
    package mutating func checkResult(_ reference: BlockReference, from worker: WorkerID)
        -> BlockReference?
    {
        guard roster.contains(worker) else { return nil }
        do throws(ImageError) {
            return try ledger.check(reference, from: worker, in: .results)
        } catch {
            expel(worker, error)
            return nil
        }
    }

    /// What its bytes are said to be.
    package func format(of handle: BlockHandle) -> ImageFormat? { ledger.format(of: handle) }

    /// One more reads or keeps the block.
    package mutating func hold(_ handle: BlockHandle) { ledger.hold(handle) }

    /// One hold less.
    package mutating func drop(_ handle: BlockHandle) { drop(ShortList(handle)) }

    /// One hold less of each block that came with one outcome.
    package mutating func drop(_ handles: ShortList<BlockHandle>) {
        guard let worker = handles.first?.worker else { return }
        var (blocks, bytes) = ([BlockID](), UInt64(0))
        for handle in handles {
            guard let freed = ledger.drop(handle) else { continue }
            blocks.append(handle.block)
            bytes += freed
        }
        release(blocks, of: worker, bytes: bytes)
    }

    /// Tells the cache that a large block of `results/` is free. The caller does so once: no ledger
    /// knows the block.
    package mutating func release(_ handle: BlockHandle) {
        release([handle.block], of: handle.worker, bytes: limits.promptReleaseBytes)
    }

    /// Tells a producer that blocks are free, and has as many try again that wait for space.
    private mutating func release(_ blocks: [BlockID], of worker: WorkerID, bytes: UInt64) {
        guard !blocks.isEmpty, let pool = roster[worker]?.pool else { return }
        actions.append(.release(worker, blocks, isPrompt: bytes >= limits.promptReleaseBytes))
        lastReleases[pool.index] = now
        unpark(pool, atMost: blocks.count)
    }

    // MARK: - Segments

    package mutating func opened(_ segments: [SegmentAnnouncement], by worker: WorkerID) {
        guard roster.contains(worker) else { return }
        do throws(ImageError) {
            try ledger.open(segments, of: worker)
        } catch {
            expel(worker, error)
        }
    }

    package mutating func closed(_ segments: [SegmentAnnouncement], by worker: WorkerID) {
        guard roster.contains(worker) else { return }
        do throws(ImageError) {
            try ledger.close(segments, of: worker)
        } catch {
            expel(worker, error)
        }
    }
}
