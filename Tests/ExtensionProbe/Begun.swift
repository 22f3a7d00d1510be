import Linux

/// A file by which a test knows that a function has begun, and the function that it began before.
struct Begun {
    let path: String

    /// Makes it; whether it was there.
    func mark() -> Bool {
        (try? FileDescriptor.open(path, [.writeOnly, .create, .exclusive])) == nil
    }

    /// Goes on for good, or until `isOver`.
    static func wait(until isOver: () -> Bool = { false }) {
        // A loop that does nothing would be left out.
        while !isOver() { _ = MonotonicClock.now() }
    }
}
