package import Messages

/// A worker that is gone.
package struct Departure: Sendable {
    /// Its session.
    package let worker: WorkerID
    /// Its kind.
    package let kind: WorkerKind
    /// Its pool.
    package let pool: PoolID
    /// The record that it left, where it crashed.
    let crash: CrashRecord?
    /// Whether it vanished without a record: it was not draining, and nobody ended its session.
    let isLost: Bool
}
