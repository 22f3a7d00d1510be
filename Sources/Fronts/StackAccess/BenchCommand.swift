package import CommandLineInterface

extension Command {
    /// The command `imagebus bench`. Its separate program parses this definition; this one only
    /// documents it and starts that program.
    package static let bench = Command(
        name: "bench",
        summary: "measure a stack",
        usage: "KIND [URL] [options]",
        operands: [
            .words(["hit", "cold", "storm", "cancel", "flood", "mixed", "play"]), .free,
        ],
        options: [
            (
                "",
                [
                    OptionDefinition(
                        "seconds", value: "S", "how long; for cancel: each kind of work (10)"),
                    OptionDefinition(
                        "concurrency", value: "C",
                        "loads at a time (hit 64, cancel 1, storm 10000, play 2\n"
                            + "players, else 4 a core)"),
                    OptionDefinition(
                        "hot", value: "N", "hit: images to draw from (as many as loads)"),
                    OptionDefinition(
                        "threads", value: "N", "hit: blocking calls on so many threads"),
                    OptionDefinition("by-message", "hit: without vouchers"),
                    OptionDefinition("requests", value: "N", "mixed: ends after so many loads"),
                    OptionDefinition("json", "one JSON object"),
                ]
            ),
            ("what is loaded", outputOptions), ("how it is encoded", settingOptions),
            ("steps, in the order given", stepOptions),
            ("how it is loaded", loadOptions),
            (
                "which stack",
                [
                    .endpoint,
                    OptionDefinition("private", "a stack of its own, although one may run"),
                    .allowPrivateNetworks, .allowAddress, .denyAddress, .certificates,
                    .runtimeDirectory,
                    .logLevel, .logFormat,
                ]
            ),
            ("", laterOptions),
        ],
        notes: """
            hit loads an image that the memory tier has: as often as it goes with so many loads at
            a time, through tasks on the client's own thread; with --concurrency 1 through the
            blocking call. Beside it, in turns, through tasks that run anywhere (async). Processor
            time is that of all threads of a process. A client repeats an answer that it was told
            by itself; with --by-message it asks for each.

            cold loads images that nobody has and stores nothing; --resize, --format and so on say
            what is made of them.

            storm begins all its loads at once: all for one image, then, with images of its own,
            for a tenth as many images in ten sizes each. It looks at every reply and counts what
            the origin was asked for.

            mixed is 65 % hits, 15 % other sizes, 15 % cold and 5 % cancels, the same in every run.

            cancel begins loads, cancels each somewhere in the middle of one stage, and asks the
            coordinator how long it took until the worker was free again. Hard cancels are those
            that ended with the process, since native code did not heed them.

            play is for the URL of an animation: players that take its frames as fast as they come,
            first under numbers that nobody has asked for, then again from the caches.

            flood measures hits of one client alone, and while another one floods the stack.

            Without a URL the command serves images of its own from 127.0.0.1; a running stack
            must have been started with --allow-private-networks for that. A {n} in a URL counts
            up, so that each load is another image (hit: as many images as loads at a time, or as
            --hot says);
            cancel puts a query behind a URL that has none, and stores nothing.

            Where no stack runs a private one is started, in memory only. Ctrl-C ends the
            measurement after the load that is under way.
            """,
        examples: [
            ("imagebus bench hit --private", "hits, 64 at a time"),
            ("imagebus bench hit --concurrency 1 --json", "hits, one at a time, for programs"),
            ("imagebus bench hit --hot 2000 --threads 2", "2,000 images, on two threads"),
            ("imagebus bench cold --private --format webp", "from download to WebP"),
            ("imagebus bench storm --private --concurrency 1000", "1,000 loads at once"),
            ("imagebus bench cancel --private", "all kinds of work, 10 s each"),
            ("imagebus bench cancel --seconds 2 --json", "a short look, for programs"),
            ("imagebus bench play https://example.com/a.webp", "frames a second, two players"),
            ("imagebus bench cancel 'https://example.com/a.jpg?{n}'", "with an image of yours"),
        ])
}
