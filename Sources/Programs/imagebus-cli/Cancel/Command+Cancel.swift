import CommandLineInterface
import StackAccess

extension Command {
    static let cancel = Command(
        name: "cancel",
        summary: "end requests of any client",
        usage: "TOKEN | --group G [options]",
        options: [
            (
                "",
                [
                    OptionDefinition(
                        "group", value: "G", "all requests of this group: 32 hex digits")
                ] + OperatorOptions.definitions
            )
        ],
        notes: """
            A token is 32 hex digits, as `imagebus get --json` prints it. The request ends with
            cancelled (2002, status 130); work that nobody else waits for is stopped. Cancelling
            what has ended does nothing. Requests of others that end at the same moment count, too.
            """,
        examples: [
            ("imagebus cancel 00112233445566778899aabbccddeeff", "one request"),
            ("imagebus cancel --group 00112233445566778899aabbccddeeff", "a page, a batch, a slot"),
        ])
}
