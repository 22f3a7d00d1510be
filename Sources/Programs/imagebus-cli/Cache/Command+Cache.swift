import CommandLineInterface
import StackAccess

extension Command {
    static let cache = Command(
        name: "cache",
        summary: "look for one entry of the cache, remove it, put it there, or remove all",
        usage: "contains KEY | remove KEY | put KEY FILE | clear --all [options]",
        options: [
            (
                "What is concerned",
                [
                    OptionDefinition(
                        "type", value: "TIER", "memory, disk or all (default)"),
                    OptionDefinition("cache", value: "NAME", "a named cache; default: the unnamed"),
                    OptionDefinition("all", "with clear: every entry of every cache"),
                ]
            ), ("", OperatorOptions.definitions),
        ],
        notes: """
            KEY is the text that imagebus get --json prints as key: the URL, with what was done to
            the image before its extension. contains prints the tiers that have it (none, disk,
            memory or all); a look does not count as use. remove says from which tiers it removed
            it; no load finds it there any more, and what is being read or written for it is not
            kept.

            clear --all does the same with every entry of every cache, named ones included, and
            answers once it is done. It asks nothing before. The files are deleted bit by bit
            afterwards.

            put keeps the bytes of FILE, or of standard input for -, as they are, once a decoder has
            read their header, at most 64 MiB; it prints the tiers that have them. A load of KEY
            finds them there. What is no image ends 65, what is too large 77, and 75 where no tier
            has room. With --type memory the disk keeps what it has. Who loads KEY from its origin
            meanwhile stores after it.
            """,
        examples: [
            ("imagebus cache contains https://example.org/a.jpg", "which tiers have the original"),
            (
                "imagebus cache remove https://example.org/a.jpg --type memory",
                "the next load reads it from disk"
            ),
            ("imagebus cache clear --all --type memory", "all of the memory tier"),
            (
                "imagebus cache put https://example.org/a.jpg a.jpg --type disk",
                "loads get this file, and do not ask the origin"
            ),
        ])
}
