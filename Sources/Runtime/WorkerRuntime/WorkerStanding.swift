/// Whose program a worker is: how it says that it lives, and what it shows at its listener.
public enum WorkerStanding: Hashable, Sendable {
    /// Ours: a control segment, and the secret that its supervisor gave it on a descriptor.
    case own
    /// Somebody else's (PROTOCOL §8.1.1): the secret of its pool's file as it is at each hello,
    /// since the next `serve` writes others, and the signs of PROTOCOL §10.3, where a supervisor
    /// reads them.
    case foreign
}
