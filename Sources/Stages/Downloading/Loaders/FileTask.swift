import ImageModel
import Messages
import Synchronization

/// One file to be read for a job.
final class FileTask: Sendable {
    let job: JobID
    let path: FilePath
    let root: FileRoot
    let bodyBytesMax: Int64
    /// What the cached body was said to be.
    let validators: Validators?
    private let cancelled = Atomic(false)

    init(
        _ job: JobID, _ path: FilePath, below root: FileRoot, bodyBytesMax: UInt64,
        validators: Validators?
    ) {
        self.job = job
        self.path = path
        self.root = root
        self.bodyBytesMax = Int64(clamping: bodyBytesMax)
        self.validators = validators
    }

    /// Nobody wants the file any longer.
    func cancel() { cancelled.store(true, ordering: .releasing) }

    var isCancelled: Bool { cancelled.load(ordering: .acquiring) }
}
