import CommandLineInterface
import ImageModel
import Messages

/// Whose processes are replaced: those of a kind, or of one pool of it.
struct DrainTarget: Hashable {
    var kind: WorkerKind
    /// nil: all pools of the kind.
    var pool: PoolName?

    init(_ kind: WorkerKind, pool: PoolName? = nil) { (self.kind, self.pool) = (kind, pool) }

    /// `KIND`, or `KIND/POOL` as the status shows it.
    init(_ text: String) throws(UsageError) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let kind = WorkerKind(name: String(parts[0])) else {
            let names = WorkerKind.allCases.map(\.name).joined(separator: ", ")
            throw UsageError(
                "'\(parts[0])' is not one of \(names); a pool of the configuration is written "
                    + "behind its kind, such as decode/NAME")
        }
        self.kind = kind
        guard parts.count == 2 else { return }
        guard kind != .coordinator, let name = PoolName(String(parts[1])) else {
            throw UsageError("'\(parts[1])' is no name of a pool of \(kind.name) workers")
        }
        pool = name
    }

    /// In sentences.
    var name: String { pool.map { "\(kind.name)/\($0)" } ?? kind.name }

    /// Whether a process is meant.
    func includes(_ process: StatusReport.ProcessStatus) -> Bool {
        process.kind == kind && (pool.map { $0 == process.pool } ?? true)
    }

    /// Throws where the stack does not have the pool.
    func check(in report: StatusReport) throws(ImageError) {
        let pools = report.pools.filter { $0.kind == kind }.map(\.name)
        guard let pool, !pools.contains(pool) else { return }
        throw ImageError(
            .invalidRequest,
            "there is no pool '\(pool)' of \(kind.name) workers, but "
                + pools.map { "\(kind.name)/\($0)" }.joined(separator: ", "))
    }
}
