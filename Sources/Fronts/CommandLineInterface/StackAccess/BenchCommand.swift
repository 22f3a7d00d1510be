extension Command {
    /// The command `imagebus bench`. Its separate program parses this definition; this one only
    /// documents it and starts that program.
    package static let bench = Command(
        name: "bench",
        summary: "benchmark a stack",
        usage: "KIND [URL] [options]",
        operands: [
            .words(["hit", "cold", "storm", "cancel", "flood", "mixed", "play"]), .free,
        ],
        options: [
            (
                "",
                [
                    OptionDefinition(
                        "seconds", value: "S", "duration; for cancel: of each kind of work (10)"),
                    OptionDefinition(
                        "concurrency", value: "C",
                        "concurrent loads (hit 64, cancel 1, storm 10000, play 2 "
                            + "players, else 4 per core)"),
                    OptionDefinition(
                        "hot", value: "N", "hit: number of images (as many as loads)"),
                    OptionDefinition(
                        "threads", value: "N", "hit: use blocking calls on N threads"),
                    OptionDefinition("by-message", "hit: do not use vouchers"),
                    OptionDefinition("requests", value: "N", "mixed: stop after N loads"),
                    OptionDefinition("json", "print one JSON object"),
                ]
            ),
            ("output", outputOptions), ("encoding", settingOptions),
            ("steps, in the order given", stepOptions),
            ("loading", loadOptions),
            (
                "stack",
                [.endpoint, .private] + OptionDefinition.network
                    + [.runtimeDirectory, .logLevel, .logFormat]
            ),
            ("", laterOptions),
        ],
        notes: """
            hit repeatedly loads images from the memory tier, with the given number of concurrent
            loads. It uses tasks on the client's own thread or, with --concurrency 1, the blocking
            call, alternating with tasks that run anywhere (async). Processor time covers all
            threads of a process. Clients repeat answers by themselves while their voucher is valid;
            with --by-message they query the coordinator each time.

            cold loads images that aren't cached and stores nothing; --resize, --format and so on
            select the result.

            storm starts all its loads at once: first for one image, then for a tenth as many new
            images in ten sizes each. It checks every reply and counts the requests to the origin.

            mixed is 65 % hits, 15 % other sizes, 15 % cold loads and 5 % cancels, in the same
            sequence in every run.

            cancel starts loads, cancels each in the middle of one stage, and asks the coordinator
            how long the worker took to become free. Hard cancels ended the worker process because
            native code did not respond.

            play requires the URL of an animation: players fetch its frames as fast as possible,
            first uncached, then from the caches.

            flood measures hits of one client, first alone and then while another client floods the
            stack.

            Without a URL, the command serves its own images from 127.0.0.1; a running stack must
            then have been started with --allow-private-networks. {n} in a URL is replaced by a
            counter, so that each load is for another image (hit: as many images as concurrent
            loads, or as --hot); cancel appends a query to a URL without one, and stores nothing.

            If no stack is running, a private one is started, in memory only. Ctrl-C stops the
            measurement after the loads in progress.
            """,
        examples: [
            ("imagebus bench hit --private", "hits, 64 at a time"),
            ("imagebus bench hit --concurrency 1 --json", "hits, one at a time, as JSON"),
            ("imagebus bench hit --hot 2000 --threads 2", "2,000 images, on two threads"),
            ("imagebus bench cold --private --format webp", "from download to WebP"),
            ("imagebus bench storm --private --concurrency 1000", "1,000 loads at once"),
            ("imagebus bench cancel --private", "cancel all kinds of work, 10 s each"),
            ("imagebus bench cancel --seconds 2 --json", "a short run, as JSON"),
            ("imagebus bench play https://example.com/a.webp", "frames per second, two players"),
            ("imagebus bench cancel 'https://example.com/a.jpg?{n}'", "with another image"),
        ])
}
