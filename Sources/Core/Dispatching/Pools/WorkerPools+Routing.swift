import ImageModel
import Messages

extension WorkerPools {
    /// The first pool of the kind that is granted all that the job needs, and is no loader's.
    func pool(of kind: WorkerKind, for needs: JobNeeds) -> PoolID? {
        pools(of: kind).first { !all[$0.index].isLoader && needs.areMet(by: self[$0].grant) }
    }

    /// Why there is none: what the last pool of the kind, that of every stack, is not granted, or
    /// else another one.
    func refusal(of kind: WorkerKind, _ needs: JobNeeds) -> ImageError {
        let missing = pools(of: kind).reversed().lazy.compactMap {
            needs.missing(in: self[$0].grant)
        }
        return missing.first?.refusal(of: kind) ?? .busy("there is no pool for this job")
    }
}
