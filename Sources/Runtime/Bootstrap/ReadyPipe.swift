import Linux
public import Messages

/// The descriptor on which a child tells its supervisor how far it is (`LifeSign`).
public struct ReadyPipe: ~Copyable {
    private var writeEnd: FileDescriptor?
    private let beats: Bool

    /// Takes the inherited descriptor, or nothing where no supervisor waits; with `beats` it stays
    /// open for signs that follow `ready`.
    public init(inherited number: Int?, beats: Bool = false) {
        let number = number.flatMap { Int32(exactly: $0) }
        let inherited = number.map { FileDescriptor(owning: $0) }
        // Not for the programs that this one starts.
        let end = try? inherited?.duplicate()
        // A supervisor that does not read for long must not stop who beats.
        if beats { try? end?.setNonBlocking() }
        writeEnd = end
        self.beats = beats
    }

    /// Tells it. Where it does not beat, nothing follows `ready`: whatever is told after it does
    /// nothing.
    ///
    /// False once, where nobody reads it any more. A supervisor that has gone takes a process of
    /// ours with it (`ParentDeath`); one that is busy has enough to read.
    @discardableResult
    public mutating func tell(_ stage: LifeSign.Stage, _ incarnation: Incarnation) -> Bool {
        guard let descriptor = writeEnd.take() else { return true }
        do throws(Errno) {
            try descriptor.writeAll(Array(LifeSign(stage, incarnation).line.utf8))
        } catch  where error != .wouldBlock {
            return false
        } catch {}
        if stage != .ready || beats { writeEnd = consume descriptor }
        return true
    }
}
