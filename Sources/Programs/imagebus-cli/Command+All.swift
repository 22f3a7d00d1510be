import CommandLineInterface

extension Command {
    /// What this version does.
    static let all: [Command] = [
        .serve, .get, .animate, .prefetch, .status, .health, .cache, .blacklist, .downloads,
        .cancel, .drain, .config,
    ]
}
