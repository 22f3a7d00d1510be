extension Command {
    static let status = Command(
        name: "status",
        summary: "show processes, sockets and counters of the running stack",
        usage: "[options]",
        options: [
            (
                "",
                OperatorOptions.definitions + [
                    OptionDefinition("watch", visibility: .later),
                    OptionDefinition("prometheus", visibility: .later),
                ]
            )
        ],
        notes: """
            Asks the coordinator through admin/, so it is for the user who runs the stack. Ends 69
            where none answers.
            """,
        examples: [
            ("imagebus status", "a table"),
            ("imagebus status --json", "the same for programs"),
        ])

    static let health = Command(
        name: "health",
        summary: "end with 0 where the running stack can load images, else with 1",
        usage: "[options]",
        options: [
            (
                "",
                [
                    OptionDefinition(
                        "only", value: "KIND",
                        "whether the processes of this kind do their part:\n"
                            + "coordinator, download, cache, decode or transform"),
                    .endpoint, .runtimeDirectory,
                    OptionDefinition("canary", visibility: .later),
                    OptionDefinition("config", value: "FILE", visibility: .later),
                ]
            )
        ],
        notes: """
            Ends 0 when the coordinator answers within 2 s and has at least one worker of each kind
            that takes jobs; else 1, with the reason on standard error. With --only it looks no
            further than this runtime directory: the coordinator answers, or the supervisors of that
            kind say that each of their processes runs and was welcomed.
            """,
        examples: [
            ("imagebus health", "the whole stack"),
            ("imagebus health --only decode", "a container of decoders, as its health check"),
        ])
}
