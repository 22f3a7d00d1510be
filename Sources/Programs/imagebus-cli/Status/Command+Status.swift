import CommandLineInterface
import Messages
import StackAccess

extension Command {
    static let status = Command(
        name: "status",
        summary: "show processes, stages, caches and counters of the running stack",
        usage: "[options]",
        options: [
            (
                "",
                OperatorOptions.definitions + [
                    OptionDefinition("watch", "again every second, until Ctrl-C"),
                    OptionDefinition(
                        "prometheus", "the text format of Prometheus, version 0.0.4"),
                    OptionDefinition(
                        "output", letter: "o", value: "FILE",
                        "write it there, at once and whole, such as for the textfile\n"
                            + "collector of a node exporter"),
                ]
            )
        ],
        notes: """
            Asks the coordinator through admin/, so it is for the user who runs the stack. Ends 69
            where none answers. Waits and works are of all jobs since the coordinator started;
            what is a hit of its own index takes no time and is in no stage.
            """,
        examples: [
            ("imagebus status", "a table"),
            ("imagebus status --json", "the same for programs"),
            ("imagebus status --watch", "a part of it, in place"),
            (
                "imagebus status --prometheus -o /var/lib/node_exporter/imagebus.prom",
                "for a collector, once; serve --metrics-file does it again and again"
            ),
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
                        of: .words(ProcessKind.all.map(\.name)),
                        "whether the processes of this kind do their part:\n"
                            + "coordinator, download, cache, decode or transform"),
                    OptionDefinition(
                        "canary", "whether a small image goes through the stack as well"),
                    within, .endpoint, .runtimeDirectory,
                    OptionDefinition("config", value: "FILE", visibility: .later),
                ]
            )
        ],
        notes: """
            Ends 0 when the coordinator answers within 2 s and has at least one worker of each kind
            that takes jobs, and one of each pool of the configuration; else 1, with the reason on
            standard error: what is missing keeps requests waiting. With --only it looks no
            further than this runtime directory: the coordinator answers, or the supervisors of that
            kind say that each of their processes runs and is connected.

            --canary asks coordinator, cache, decoder and transformer one after the other, past the
            caches and without an origin. It names the first that does not answer within the time of
            --within, or does it wrong. A stack that is too busy for it is well: that is said, too.
            """,
        examples: [
            ("imagebus health", "the whole stack"),
            ("imagebus health --canary --within 2s", "whether an image comes through in 2 s"),
            ("imagebus health --only decode", "a container of decoders, as its health check"),
        ])
}
