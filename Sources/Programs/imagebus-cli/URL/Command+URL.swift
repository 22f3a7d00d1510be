import CommandLineInterface
import StackAccess

extension Command {
    static let url = Command(
        name: "url",
        summary: "make, sign and explain gateway URLs",
        usage: "build OPTIONS SOURCE | sign PATH | explain URL  [options]",
        operands: [.words(URLOptions.Action.allCases.map(\.rawValue)), .free, .free],
        options: [
            (
                "",
                [
                    OptionDefinition(
                        "accept", value: "TYPES",
                        "explain: what the client accepts, as its field Accept says it"),
                    OptionDefinition("json", "explain: one JSON object"),
                    .runtimeDirectory,
                ]
            ),
            ("how the gateway is set", ServedGateway.settingDefinitions),
        ],
        notes: """
            build prints the target for a source with options as the grammar writes them, such as
            rs:fit:300:300/f:webp for imgproxy, 300x200/smart for thumbor and
            full/300,/0/default.jpg for IIIF; OPTIONS may be ''. sign prints the target for a path
            that has no signature yet. Both sign with the first key of --gateway-keys; without keys
            they write the word that stands for a signature, which needs --gateway-unsigned.
            --gateway-public-url stands before the target.

            explain prints what the gateway makes of a URL or of its path: the source, the steps,
            the format, what the answer depends on and the cache key, or the status and the reason
            of a refusal. Where a stack runs, it says whether the result is cached.

            exit status: 0 the target is made, or would be loaded; 1 explain: it is refused
            """,
        examples: [
            (
                "imagebus url build rs:fit:300:300 https://example.com/a.jpg "
                    + "--gateway-keys keys",
                "a signed target of imgproxy's"
            ),
            (
                "imagebus url explain /unsafe/90x60/example.com/a.jpg "
                    + "--gateway-grammar thumbor --gateway-unsigned",
                "what thumbor's grammar makes of it"
            ),
        ])
}
