import CommandLineInterface

extension Command {
    /// What this version does.
    static let all: [Command] = [
        .serve, .get, .animate, .prefetch, .status, .health, .doctor, .cache, .blacklist,
        .downloads,
        .cancel, .drain, .config, .completion, .manual,
    ]

    /// These, and those that are programs of their own.
    static let documented = all + NeighbourCommand.all.map(\.command)
}
