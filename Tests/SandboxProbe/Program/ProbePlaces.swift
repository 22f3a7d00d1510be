import Linux
import Messages
import Sandbox
import SharedArena

/// The files with which the probe tries what it may do.
struct ProbePlaces {
    let kind: WorkerKind
    let profile: SandboxProfile
    let paths: RuntimePaths

    private static let name = "sandbox-probe"
    private static let arenaBytesMax = 64 << 20

    init?(_ kind: WorkerKind, paths: RuntimePaths) {
        let profile = SandboxProfile.of(kind, paths: paths, arenaBytesMax: Self.arenaBytesMax)
        guard let profile else { return nil }
        (self.kind, self.profile, self.paths) = (kind, profile, paths)
    }

    /// An arena that this kind neither reads nor writes.
    var external: String { paths.arenaDirectory(kind == .decode ? .transform : .download) }
    /// An arena that it reads.
    var input: String { paths.arenaDirectory(kind == .decode ? .download : .decode) }
    var own: String { paths.arenaDirectory(kind) }
    /// What operators show at their socket.
    var adminSecret: String { paths.adminSecretFile }

    /// A file of the probe that is there, where the directory lets it be made.
    func file(in directory: String) -> String { "\(directory)/\(Self.name).file" }
    /// Names that are not there.
    func new(in directory: String) -> String { "\(directory)/\(Self.name).new" }
    func other(in directory: String) -> String { "\(directory)/\(Self.name).other" }

    /// Makes the files. What cannot be made, such as in a directory that is mounted read-only or
    /// not at all, is not there for the attempts either.
    func prepare() {
        for directory in Set([own, input, external] + profile.inputs) {
            _ = try? FileDescriptor.open(
                file(in: directory), [.writeOnly, .create], mode: 0o640)
        }
    }

    /// Removes what may be removed in the sandbox; the rest goes with the runtime directory.
    func clear() {
        _ = try? FileDescriptor.openDirectory(own).unlink("\(Self.name).file")
    }
}
