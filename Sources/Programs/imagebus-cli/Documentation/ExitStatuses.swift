import CommandLineInterface

/// What the exit statuses of `imagebus` mean (PROTOCOL §9).
enum ExitStatuses {
    static let rows: [(status: Int32, meaning: String)] = [
        (0, "done"),
        (
            1,
            "a miss where get was to write an image; a stack that health or doctor finds "
                + "fault with"
        ),
        (64, "usage"), (65, "not an image or not supported"), (66, "the origin says no"),
        (69, "no coordinator"), (70, "internal"), (73, "the output cannot be created"),
        (74, "nor written"), (75, "try again later"), (76, "the origin broke the protocol"),
        (77, "refused by policy or limit"), (78, "a process of serve refuses its settings"),
        (124, "deadline"), (130, "cancelled"), (141, "nobody reads the output"),
    ]

    /// All of them in one paragraph.
    static var text: String {
        let parts = rows.map { "\($0.status) \($0.meaning)" }
        return HelpText.filled("exit status: " + parts.joined(separator: ", "))
    }
}
