import ImageModel
import Messages

extension WorkerPools {
    /// The first pool of the kind that is granted all that the job needs, and is no loader's. Steps
    /// of ours are done by ours, and custom ones by others.
    func pool(of kind: WorkerKind, for needs: JobNeeds) -> PoolID? {
        pools(of: kind).first {
            !all[$0.index].isLoader && all[$0.index].doesSteps == needs.isCustom
                && needs.areMet(by: self[$0].grant)
        }
    }

    /// Why there is none: what the last pool of the kind, that of every stack, is not granted, or
    /// else another one.
    func refusal(of kind: WorkerKind, _ needs: JobNeeds) -> ImageError {
        if let step = needs.missingStep { return step.refusal(of: kind) }
        let missing = pools(of: kind).reversed().lazy.compactMap {
            needs.missing(in: self[$0].grant)
        }
        return missing.first?.refusal(of: kind) ?? .busy("there is no pool for this job")
    }
}
