import Model

@testable import Coordinator

extension Walk {
    /// Inserts custom steps between built-in ones, sometimes one that no worker implements. Walks
    /// of seeds without them are unchanged.
    mutating func addCustomSteps(to request: inout ImageRequest) {
        guard hasCustomSteps else { return }
        swap(&random, &side)
        defer { swap(&random, &side) }
        guard random.oneIn(3), !request.infoOnly else { return }
        if random.oneIn(4), !request.wantsOriginal { request.output = OutputOptions(format: .qoi) }
        for _ in 0..<draw(1...3) {
            let name = random.oneIn(30) ? "nobody.step" : pick(["acme.mark", "acme.tone"]) ?? ""
            request.steps.insert(
                .custom(CustomStep(name)), at: draw(0...request.steps.count))
        }
    }

    /// Adds a worker for the steps; at times there is none.
    mutating func hireForSteps() {
        guard hasCustomSteps, !stack.workers.values.contains(where: { $0.pool == .steps }) else {
            return
        }
        stack.hire(.transform, credit: draw(1...2), pool: .steps)
    }

    private var hasCustomSteps: Bool {
        stack.scheduler.limits.dispatch.pools.further.contains(where: \.isExternalTransformer)
    }
}

extension WorkerPools {
    /// The default pools and an external one with two steps and two output formats.
    static var withSteps: WorkerPools {
        guard let name = PoolName("steps") else { preconditionFailure("it is a name") }
        var pool = WorkerPool(name: name, kind: .transform)
        pool.trust = .external
        pool.credit = 1_000
        pool.grant = WorkerCapabilities(
            formatsOut: ["pam", "qoi", "tiff"], steps: ["acme.mark", "acme.tone"])
        return WorkerPools([pool])
    }
}

extension PoolID {
    /// The further pool of `WorkerPools.withSteps`.
    static var steps: PoolID? { PoolName("steps").flatMap { WorkerPools.withSteps.id(of: $0) } }
}
