import ProcessRuntime
import Testing

/// External text as it is displayed.
@Suite struct PlainTextTests {
    @Test(arguments: [
        ("\u{1B}[2J", "\\u001b[2J"), ("a\rb", "a\\u000db"), ("\u{9B}31m", "\\u009b31m"),
        ("\u{7F}", "\\u007f"), ("\u{202E}gpj", "\\u202egpj"),
        ("\u{2066}\u{200F}", "\\u2066\\u200f"),
        ("\u{61C}", "\\u061c"), ("a\u{2028}b", "a\\u2028b"), ("\r\n", "\\u000d\\u000a"),
    ])
    func whatControlsATerminalIsShownAsItsNumber(_ text: String, _ shown: String) {
        #expect(PlainText.line(text) == shown)
    }

    @Test(arguments: ["", "Zürich \\ \"猫\" 🐈‍⬛ e\u{301}", "https://host/a?b=c%1B"])
    func whatIsHarmlessStays(_ text: String) {
        #expect(PlainText.line(text) == text)
        #expect(PlainText.lines(text) == text)
    }

    @Test func lineEndsAndTabsStayWhereThereAreLines() {
        #expect(PlainText.lines("a\tb\n\u{1B}c\n") == "a\tb\n\\u001bc\n")
        #expect(PlainText.line("a\tb\n") == "a\\u0009b\\u000a")
    }
}
