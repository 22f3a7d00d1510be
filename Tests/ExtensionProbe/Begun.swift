import Linux

/// A marker file that signals to a test that a function has started, even in an earlier process.
struct Begun {
    let path: String

    /// Creates the file. Returns whether it already existed.
    func mark() -> Bool {
        (try? FileDescriptor.open(path, [.writeOnly, .create, .exclusive])) == nil
    }

    /// Blocks forever, or until `isOver`.
    static func wait(until isOver: () -> Bool = { false }) {
        // The compiler would remove an empty loop.
        while !isOver() { _ = MonotonicClock.now() }
    }
}
