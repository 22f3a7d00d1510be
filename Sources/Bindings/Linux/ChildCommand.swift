/// What a child runs, and all that it inherits: nothing that is not written here.
public struct ChildCommand: Sendable {
    /// What a child finds at one of its descriptor numbers.
    public enum Stream: Hashable, Sendable {
        /// `/dev/null`.
        case null
        /// What this process has at the same number.
        case inherited
        /// A descriptor of this process; it stays open here, and is not close-on-exec there.
        case descriptor(Int32)
    }

    /// The path of the executable; `PATH` is not searched.
    public var executable: String
    /// The arguments after the name of the program.
    public var arguments: [String]
    /// The whole environment.
    public var environment: [String: String]
    /// Descriptors by the child's number; 0 defaults to `/dev/null`, 1 and 2 to inherited.
    public var descriptors: [Int32: Stream] = [0: .null, 1: .inherited, 2: .inherited]
    /// The child's working directory; nil is ours.
    public var workingDirectory: String?
    /// Whether the child leads a process group of its own: a Ctrl-C at the terminal misses it.
    public var leadsGroup = false

    /// A command with this process' environment unless told otherwise.
    public init(
        _ executable: String, _ arguments: [String] = [],
        environment: [String: String] = CurrentProcess.environment
    ) {
        self.executable = executable
        self.arguments = arguments
        self.environment = environment
    }
}
