import CommandLineInterface
import StackAccess

extension Command {
    static let blacklist = Command(
        name: "blacklist",
        summary: "list what is not tried for a while, or take it off the list",
        usage: "list | remove URL | clear [options]",
        operands: [.words(["list", "remove", "clear"]), .free],
        options: [("", OperatorOptions.definitions)],
        notes: """
            A URL that failed for good, such as one whose body is no image, is refused for ten
            minutes, or as long as serve --blacklist-seconds says: with blacklisted (status 66),
            unless the load has --option retry-failed. Content that crashed or hung a worker twice,
            without a success between, is quarantined: loads that need it end at once with poisoned
            (status 65). The list lives as long as the coordinator. It shows URLs without their
            query, as logs do; remove takes a whole URL, or what the list shows, which may be more
            than one.
            """,
        examples: [
            ("imagebus blacklist list", "what is not tried, and for how long"),
            ("imagebus blacklist remove https://example.org/a.jpg", "try it again"),
        ])
}
