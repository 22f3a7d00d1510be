import CommandLineInterface
import Testing

@testable import imagebus_cli

/// `status --watch` redraws in place.
@Suite struct StatusWatchTests {
    private func lines(_ text: String, _ screen: TerminalScreen?) -> [String] {
        StatusWatch.inPlace(text, on: screen).replacing("\u{1B}[K", with: "")
            .replacing("\u{1B}[H", with: "").replacing("\u{1B}[J", with: "")
            .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    @Test func everyLineReplacesTheOneBefore() {
        #expect(
            StatusWatch.inPlace("a\nb\n", on: nil)
                == "\u{1B}[Ha\u{1B}[K\nb\u{1B}[K\u{1B}[J")
    }

    @Test func whatHasRoomIsAllThere() {
        let screen = TerminalScreen(columns: 10, rows: 3)
        #expect(lines("a\nb\nc\n", screen) == ["a", "b", "c"], "no line scrolls")
        #expect(lines("a\n\nc", nil) == ["a", "", "c"])
    }

    @Test func whatHasNoRoomIsLeftOutAndThatIsSaid() {
        let screen = TerminalScreen(columns: 12, rows: 3)
        #expect(
            lines("0123456789abcdef\nb\nc\nd\n", screen)
                == ["0123456789ab", "b", "… 2 more lin"])
    }
}
