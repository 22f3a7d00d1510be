extension Command {
    static let cache = Command(
        name: "cache",
        summary: "look for one entry of the cache, or remove it",
        usage: "contains KEY | remove KEY [options]",
        options: [
            (
                "What is concerned",
                [
                    OptionDefinition(
                        "type", value: "TIER", "memory, disk or all (default)"),
                    OptionDefinition("cache", value: "NAME", "a named cache; default: the unnamed"),
                ]
            ), ("", OperatorOptions.definitions),
        ],
        notes: """
            KEY is the text that imagebus get --json prints as key: the URL, with what was done to
            the picture before its extension. contains prints the tiers that have it (none, disk,
            memory or all); a look does not count as use. After remove no load finds it there; what
            is being read or written for it is not kept.
            """,
        examples: [
            ("imagebus cache contains https://example.org/a.jpg", "which tiers have the original"),
            (
                "imagebus cache remove https://example.org/a.jpg --type memory",
                "the next load reads it from disk"
            ),
        ])
}
