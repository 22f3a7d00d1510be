import ImageModel
import Messages

extension WorkerPools {
    /// The first pool of the kind that is granted all that the job needs, and is no loader's.
    /// Throws why there is none: what the last pool of the kind, that of every stack, is not
    /// granted, or else another one.
    func pool(of kind: WorkerKind, for needs: JobNeeds) throws(ImageError) -> PoolID {
        if let pool = first(of: pools(of: kind), for: needs) { return pool }
        if let undrawn = needs.undrawn {
            let own = pools(of: kind).filter { all[$0.index].trust == .own }
            if let pool = first(of: own, for: undrawn) { return pool }
        }
        throw refusal(of: kind, needs)
    }

    /// The first of the pools of decoders of these names that is granted what the job needs.
    func coder(_ names: [String], for needs: JobNeeds) throws(ImageError) -> PoolID {
        if let pool = first(of: coders(names), for: needs) { return pool }
        let names = names.joined(separator: ", ")
        throw ImageError(
            .unsupportedFormat,
            "no coder of this request decodes the image: it names \(names)",
            details: ["coders": names])
    }

    /// The next one of these pools, or of all, that is granted what the job needs.
    func coder(after pool: PoolID, among names: [String], for needs: JobNeeds) -> PoolID? {
        let order = names.isEmpty ? pools(of: .decode) : coders(names)
        guard let place = order.firstIndex(of: pool) else { return nil }
        return first(of: Array(order[(place + 1)...]), for: needs)
    }

    /// Each once, in the order of the names: whoever was asked is not asked again.
    private func coders(_ names: [String]) -> [PoolID] {
        names.compactMap { PoolName($0).flatMap(id) }.filter { kind(of: $0) == .decode }
            .reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// What is for workers of somebody else goes to one of their pools, and nothing else does.
    private func first(of pools: [PoolID], for needs: JobNeeds) -> PoolID? {
        pools.first {
            !all[$0.index].isLoader && all[$0.index].isForeignTransformer == needs.isForeign
                && needs.areMet(by: self[$0].grant)
        }
    }

    /// Why no pool of the kind does it.
    func refusal(of kind: WorkerKind, _ needs: JobNeeds) -> ImageError {
        if let missing = needs.missingElsewhere { return missing.refusal(of: kind) }
        let missing = pools(of: kind).reversed().lazy.compactMap {
            needs.missing(in: self[$0].grant)
        }
        return missing.first?.refusal(of: kind) ?? .busy("there is no pool for this job")
    }
}
