import Linux
public import Messages

/// The descriptor on which a child tells its supervisor, once, that it was welcomed: its
/// incarnation in hex and a line feed.
public struct ReadyPipe: ~Copyable {
    private var writeEnd: FileDescriptor?

    /// Takes the inherited descriptor, or nothing where no supervisor waits.
    public init(inherited number: Int?) {
        writeEnd = number.flatMap { Int32(exactly: $0) }.map { FileDescriptor(owning: $0) }
    }

    /// Tells it; the second and later times do nothing.
    public mutating func tell(_ incarnation: Incarnation) {
        guard let descriptor = writeEnd.take() else { return }
        // A supervisor that has gone takes this process with it (`ParentDeath`).
        try? descriptor.writeAll(Array("\(incarnation.value.hex)\n".utf8))
    }
}
