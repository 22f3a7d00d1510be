extension Command {
    static let bench = Command(
        name: "bench",
        summary: "measure a stack",
        usage: "cancel [URL] [options]",
        options: [
            (
                "",
                [
                    OptionDefinition("seconds", value: "S", "for each kind of work (10)"),
                    OptionDefinition("concurrency", value: "C", "loads at a time (1)"),
                    OptionDefinition("json", "one JSON object"),
                ]
            ),
            (
                "which stack",
                [
                    .endpoint,
                    OptionDefinition("private", "a stack of its own, although one may run"),
                    .allowPrivateNetworks, .allowAddress, .runtimeDirectory, .logLevel, .logFormat,
                ]
            ),
            ("", [OptionDefinition("config", value: "FILE", visibility: .later)]),
        ],
        notes: """
            cancel begins loads, cancels each somewhere in the middle of one stage, and asks the
            coordinator how long it took until the worker was free again. Hard cancels are those
            that ended with the process, since native code did not heed them.

            Without a URL the command serves pictures of its own from 127.0.0.1; a running stack
            must have been started with --allow-private-networks for that. A {n} in a URL counts
            up, else a query is put behind it, so that each load is another one. Nothing is stored.

            Where no stack runs a private one is started, in memory only. Ctrl-C ends the
            measurement after the load that is under way.
            """,
        examples: [
            ("imagebus bench cancel --private", "all kinds of work, 10 s each"),
            ("imagebus bench cancel --seconds 2 --json", "a short look, for programs"),
            ("imagebus bench cancel 'https://example.com/a.jpg?{n}'", "with a picture of yours"),
        ])
}
