/// A gate that lets one step through for each `admit`: paces an origin by the test's own events.
public final class Turnstile: Sendable {
    private let pipe = Pipe()

    /// Readable while admitted steps are left.
    var descriptor: Int32 { pipe.readEnd }

    /// A turnstile that has admitted nothing yet.
    public init() {}

    /// Lets `steps` steps through (at most 65,536 at a time), now or when somebody comes for
    /// them. Any thread.
    public func admit(_ steps: Int = 1) {
        pipe.put(steps)
    }

    /// Takes one admitted step without waiting; false where there is none.
    func take() -> Bool {
        pipe.take()
    }
}
