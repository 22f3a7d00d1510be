/// A gate that lets one step through per `admit`, so that a test can pace an origin with its own
/// events.
public final class Turnstile: Sendable {
    private let pipe = Pipe()

    /// Readable while there are admitted steps left.
    var descriptor: Int32 { pipe.readEnd }

    /// Creates a turnstile that hasn't admitted anything yet.
    public init() {}

    /// Admits `steps` steps (at most 65,536 at a time), whether or not something waits for them
    /// already. Any thread.
    public func admit(_ steps: Int = 1) {
        pipe.put(steps)
    }

    /// Removes one admitted step without waiting. Returns false if there is none.
    func receive() -> Bool {
        pipe.receive()
    }
}
