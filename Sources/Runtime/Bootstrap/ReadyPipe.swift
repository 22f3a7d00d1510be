import Linux
public import Messages

/// The descriptor on which a child tells its supervisor how far it is (`LifeSign`).
public struct ReadyPipe: ~Copyable {
    private var writeEnd: FileDescriptor?

    /// Takes the inherited descriptor, or nothing where no supervisor waits.
    public init(inherited number: Int?) {
        writeEnd = number.flatMap { Int32(exactly: $0) }.map { FileDescriptor(owning: $0) }
    }

    /// Tells it. Nothing follows `ready`: whatever is told after it does nothing.
    public mutating func tell(_ stage: LifeSign.Stage, _ incarnation: Incarnation) {
        guard let descriptor = writeEnd.take() else { return }
        // A supervisor that has gone takes this process with it (`ParentDeath`).
        try? descriptor.writeAll(Array(LifeSign(stage, incarnation).line.utf8))
        if stage != .ready { writeEnd = consume descriptor }
    }
}
