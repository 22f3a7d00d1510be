/// A client that is a program of the stack, as it says of itself: for those who look at the status,
/// and nothing is decided by it.
public struct FrontProcess: Hashable, Sendable {
    /// What it is, such as `gateway`.
    public var name: String
    /// How often its supervisor restarted it.
    public var restarts: UInt32
    /// What it cannot do any more.
    public var sandbox: SandboxLayers

    /// Bytes of a name.
    public static let nameBytesMax = 32

    /// Whether it may be shown beside the processes of the stack: a word of small letters that is
    /// none of theirs. Whoever may connect can say anything.
    public var isPlain: Bool {
        !name.isEmpty && name.utf8.allSatisfy { (0x61...0x7A).contains($0) }
            && WorkerKind(name: name) == nil
    }

    /// Describes a front.
    public init(name: String, restarts: UInt32 = 0, sandbox: SandboxLayers = []) {
        (self.name, self.restarts, self.sandbox) = (name, restarts, sandbox)
    }
}
