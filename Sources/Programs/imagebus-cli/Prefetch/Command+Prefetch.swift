import CommandLineInterface
import ImageModel

extension Command {
    static let prefetch = Command(
        name: "prefetch",
        summary: "load images into the caches",
        usage: "[URL…] [-f FILE|-] [options]",
        options: [
            ("what is loaded", listOptions + sharedOutputOptions),
            ("how it is encoded", settingOptions),
            ("steps, in the order given", stepOptions),
            ("how each is loaded", prefetchLoadOptions),
            ("which stack", stackOptions), ("", laterOptions),
        ],
        notes: """
            Nothing is written but counts: the images are in the caches of the stack, under the keys
            that get finds with the same options. Loads of the same URLs go first.

            The last line says how many URLs were loaded, how many the caches had already, and how
            many failed, with which errors. Those that failed are named, each with the reason, those
            of a list with FILE:LINE: first what is no URL there, up to 100 lines, then the first
            sixteen of others. Behind them stands what to type next. The status is 0 where none
            failed, else that of the first. Ctrl-C cancels what has not ended, and the status is
            130.

            Which stack is used is as for get. A private one ends with its memory; what it wrote to
            the disk stays.
            """,
        examples: [
            ("imagebus prefetch URL1 URL2 --resize 200x200", "two thumbnails"),
            ("imagebus prefetch -f urls.txt --concurrent 8", "a list, one URL a line"),
            (
                "sed s/x/y/ list | imagebus prefetch -f - --json",
                "a list from a pipe, counts as JSON"
            ),
        ])

    private static let listOptions = [
        OptionDefinition(
            "file", letter: "f", value: "FILE",
            "URLs, one a line; empty lines and lines with # are passed over;\n"
                + "- is standard input"),
        OptionDefinition(
            "concurrent", value: "N",
            "URLs at a time, 1 to \(RequestLimits.prefetchConcurrencyMax) "
                + "(\(RequestLimits.prefetchConcurrency))"),
        OptionDefinition("json", "one JSON object with the counts"),
        progress,
    ]

    private static let sharedOutputOptions = outputOptions.filter {
        !["info", "facts"].contains($0.name)
    }

    private static let prefetchLoadOptions =
        loadOptions.filter { $0.name != "priority" } + [
            OptionDefinition(
                "priority", value: "P", of: .words(Priority.allCases.map(\.name)),
                "high, normal or low (low)")
        ]
}
