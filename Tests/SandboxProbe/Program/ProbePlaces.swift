import Linux
import Model
import ProcessRuntime
import Sandbox

/// The files used by the probe.
struct ProbePlaces {
    let kind: WorkerKind
    let profile: SandboxProfile
    let paths: RuntimePaths

    private static let name = "sandbox-probe"
    private static let arenaBytesMax = 64 << 20

    init?(_ kind: WorkerKind, paths: RuntimePaths) {
        switch kind {
        case .decode: profile = .decode(paths: paths, arenaBytesMax: Self.arenaBytesMax)
        case .transform: profile = .transform(paths: paths, arenaBytesMax: Self.arenaBytesMax)
        case .coordinator, .download, .cache: return nil
        }
        (self.kind, self.paths) = (kind, paths)
    }

    /// An arena that this kind neither reads nor writes.
    var external: String { arena(kind == .decode ? .transform : .download) }
    /// An arena that it reads.
    var input: String { arena(kind == .decode ? .download : .decode) }
    var own: String { arena(kind) }

    private func arena(_ kind: WorkerKind) -> String { paths.arenaDirectory(PoolName(kind)) }

    /// The secret that operators present at their socket.
    var adminSecret: String { paths.adminSecretFile }

    /// A file of the probe that exists if the directory was writable.
    func file(in directory: String) -> String { "\(directory)/\(Self.name).file" }
    /// Unused names.
    func new(in directory: String) -> String { "\(directory)/\(Self.name).new" }
    func other(in directory: String) -> String { "\(directory)/\(Self.name).other" }

    /// Creates the files. Those that can't be created, such as in a directory that is mounted
    /// read-only or not at all, are also absent for the attempts.
    func prepare() {
        for directory in Set([own, input, external] + profile.inputs) {
            _ = try? FileDescriptor.open(
                file(in: directory), [.writeOnly, .create], mode: 0o640)
        }
    }

    /// Removes the files that the sandbox permits to remove; the rest is removed with the runtime
    /// directory.
    func clear() {
        _ = try? FileDescriptor.openDirectory(own).unlink("\(Self.name).file")
    }
}
