/// What keeps a worker from doing what it has no need of, from inside (PROTOCOL §8.1). The bits are
/// part of the protocol; unknown ones are kept.
public struct SandboxLayers: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt32

    /// Takes the bits of a message.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// `no_new_privs`: no program that it starts gains rights.
    public static let noNewPrivileges = SandboxLayers(rawValue: 1)
    /// Resource limits.
    public static let resourceLimits = SandboxLayers(rawValue: 2)
    /// A filter of system calls.
    public static let seccomp = SandboxLayers(rawValue: 4)
    /// A view of the file system that has its inputs and outputs only.
    public static let landlock = SandboxLayers(rawValue: 8)

    /// The names of those that are in it, as in `status --json`.
    public var names: [String] {
        let all: [(SandboxLayers, String)] = [
            (.noNewPrivileges, "noNewPrivileges"), (.resourceLimits, "rlimits"),
            (.seccomp, "seccomp"), (.landlock, "landlock"),
        ]
        return all.filter { contains($0.0) }.map(\.1)
    }
}
