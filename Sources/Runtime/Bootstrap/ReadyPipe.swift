import Linux
public import Messages

/// The descriptor on which a child tells its supervisor how far it is (`LifeSign`).
public struct ReadyPipe: ~Copyable {
    private var writeEnd: FileDescriptor?
    private let beats: Bool

    /// Takes the inherited descriptor, or nothing where no supervisor waits; with `beats` it stays
    /// open for signs that follow `ready`.
    public init(inherited number: Int?, beats: Bool = false) {
        let end = number.flatMap { Int32(exactly: $0) }.map { FileDescriptor(owning: $0) }
        // A supervisor that does not read for long must not stop who beats.
        if beats { try? end?.setNonBlocking() }
        writeEnd = end
        self.beats = beats
    }

    /// Tells it. Where it does not beat, nothing follows `ready`: whatever is told after it does
    /// nothing.
    public mutating func tell(_ stage: LifeSign.Stage, _ incarnation: Incarnation) {
        guard let descriptor = writeEnd.take() else { return }
        // A supervisor that has gone takes this process with it (`ParentDeath`).
        try? descriptor.writeAll(Array(LifeSign(stage, incarnation).line.utf8))
        if stage != .ready || beats { writeEnd = consume descriptor }
    }
}
