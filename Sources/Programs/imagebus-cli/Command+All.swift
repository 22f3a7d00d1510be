import CommandLineInterface
import StackAccess

extension Command {
    /// What this version does.
    static let all: [Command] = [
        .serve, .get, .animate, .prefetch, .status, .health, .doctor, .cache, .blacklist,
        .downloads,
        .cancel, .drain, .config, .url, .completion, .manual,
    ]

    /// These, and what another program reads.
    static let documented = all + [.bench]
}
