import CommandLineInterface

/// How images are drawn in a terminal.
enum TerminalGraphics: Hashable, CaseIterable {
    /// PNG in the protocol of kitty.
    case kitty
    /// Sixels of at most 256 colours.
    case sixel
    /// Characters of two pixels each.
    case blocks

    /// By their names on the command line; `nil`: what the terminal can do.
    static let names: [(name: String, value: TerminalGraphics?)] = [
        ("auto", nil), ("kitty", .kitty), ("sixel", .sixel), ("blocks", .blocks),
    ]

    /// What the environment says of the terminal; `nil` where the terminal has to be asked.
    static func known(_ environment: [String: String]) -> TerminalGraphics? {
        if KittyImage.isSpoken(environment) { return .kitty }
        let terminal = environment["TERM"] ?? ""
        return terminal.isEmpty || terminal == "dumb" ? .blocks : nil
    }

    /// What the terminal can do that gave this answer, or none.
    static func of(_ answer: TerminalAnswer?) -> TerminalGraphics {
        answer?.hasSixels == true ? .sixel : .blocks
    }
}
