import CommandLineInterface
import ImageModel
import StackAccess

extension Command {
    static let cache = Command(
        name: "cache",
        summary: "look at the caches, read, put or remove entries, or let go of some",
        usage: "ACTION [KEY] [FILE] [options]",
        operands: [.words(CacheOptions.actions), .free, .file],
        options: [
            (
                "What is concerned",
                [
                    OptionDefinition(
                        "type", value: "TIER", of: .words(CacheOptions.tierNames),
                        "memory, disk or all (default)"),
                    OptionDefinition(
                        "cache", value: "NAME",
                        "a named cache; without it the default one where a KEY is\n"
                            + "named, else all of them"),
                    OptionDefinition(
                        "url", value: "URL",
                        "the original of that URL and all that was made of it"),
                    OptionDefinition("prefix", value: "TEXT", "entries whose key begins so"),
                    OptionDefinition(
                        "tag", value: "TAG", separators: [",", " "],
                        "entries with that tag; with put: a tag of the entry (repeatable)"),
                    OptionDefinition(
                        "older-than", value: "TIME",
                        "entries stored that long ago, such as 90s, 12h, 7d or 4w"),
                    OptionDefinition("all", "with clear: every entry of every cache"),
                ]
            ),
            (
                "What is printed",
                [
                    OptionDefinition(
                        "limit", value: "N", "of list: so many entries at most (1000)"),
                    OptionDefinition(
                        "after", value: "PLACE", "of list: go on where the list before ended"),
                    OptionDefinition(
                        "output", letter: "o", value: "FILE",
                        "of get: where the bytes go; - is standard output (default)"),
                    OptionDefinition(
                        "extended-data", value: "FILE",
                        "of put: 1 to \(ExtendedData.bytesMax) bytes that are kept beside the "
                            + "image"),
                    OptionDefinition(
                        "media-type", value: "TYPE",
                        "what they are (\(ExtendedData.unknownType))"),
                ]
            ), ("", OperatorOptions.definitions),
        ],
        notes: notes,
        examples: [
            ("imagebus cache stats", "sizes, hits, trims, and how the disk is"),
            (
                "imagebus cache remove --url https://example.org/a.jpg",
                "the original and every size of it, of everybody"
            ),
            ("imagebus cache list --prefix https://example.org/ --json", "what there is of a site"),
            ("imagebus cache remove --tag shop", "whatever was stored with that tag"),
            ("imagebus cache remove --older-than 30d --type disk", "what was stored long ago"),
            (
                "imagebus cache put https://example.org/a.jpg a.jpg --type disk",
                "loads get this file, and do not ask the origin"
            ),
        ])

    private static let notes = """
        imagebus cache stats | list | count | size | trim
        imagebus cache contains KEY | get KEY | put KEY FILE | remove [KEY]
        imagebus cache clear --all | clear --cache NAME

        KEY is the text that imagebus get --json prints as key, and list: the URL, with what was
        done to the image before its extension. contains prints the tiers that have it (none, disk,
        memory or all); a look does not count as use. get writes the bytes as they are stored; where
        no tier has them it ends 1.

        remove takes a KEY, or any of --url, --prefix, --tag, --older-than and --cache, which all
        have to hold; with --url also what a client asked for with credentials, and what depends
        on header fields. A URL that looks like a variant of another one, such as a-Auth(1).jpg of
        a.jpg, goes with it. clear --all removes every entry of every cache, clear --cache those
        of one. When either answers, no load finds these entries any more. Loads that are under
        way for them begin anew, so that older bytes are not stored after the removal. Neither
        asks before. With --type memory the disk keeps its entries, and loads go on. External caches
        remove entries in steps; standard error shows how many are removed and examined. If one of
        them stops, or Ctrl-C ends the command, the rest stays: repeat the command to go on.

        The NAME of --cache may stand for several caches (caches in the file of serve --config);
        contains, get, put, remove and clear then mean those that the file says for them.

        list, count and size say what there is; an entry in both tiers counts in both. bytes of list
        are those of the image, those of count and size what the tier needs for it. stats says what
        was so a second ago at most; BESIDE are the bytes of the log of the index and of damaged
        indexes, which were SET ASIDE so often, LOST are entries that were found damaged, SKIPPED
        those that the disk did not take. trim has both tiers go down to their low-water mark (serve
        --low-water), and removes what is over age.

        put keeps the bytes of FILE, or of standard input for -, as they are, once a decoder has
        read their header, at most 64 MiB; it prints the tiers that have them. What is no image ends
        65, what is too large 77, and 75 where no tier has room. With --type memory the disk keeps
        what it has. Who loads KEY from its origin meanwhile stores after it. Its --tag and
        --extended-data are those of the entry from now on: without them it has none.
        """
}
