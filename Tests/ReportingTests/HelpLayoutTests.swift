import Reporting
import Testing

/// Help in columns.
@Suite struct HelpLayoutTests {
    @Test func aDescriptionIsBesideItsName() {
        #expect(
            HelpLayout.row("  --a N", "one two three", at: 10, columns: 18)
                == "  --a N   one two\n          three\n")
        #expect(
            HelpLayout.row("  --a N", "one;\ntwo", at: 10, columns: 18)
                == "  --a N   one;\n          two\n")
        #expect(
            HelpLayout.row("  --longer N", "one", at: 10, columns: 18)
                == "  --longer N\n          one\n")
    }

    @Test func theLongestNameThatIsNotTooLongSetsTheColumn() {
        let names = ["  --a", "  --ab N", "  --" + String(repeating: "a", count: 40)]
        #expect(HelpLayout.column(after: names, columns: 100) == 10)
        #expect(HelpLayout.column(after: [names[2]], columns: 100) == 30)
        #expect(HelpLayout.column(after: names, columns: 50) == 8)
    }

    @Test func paragraphsAreWrappedAndListsAreIndented() {
        let text = """
            one two
            three four

            - five six
              seven
            - eight

            imagebus a  b
            imagebus c
            """
        #expect(
            HelpLayout.paragraphs(text, columns: 12) == """
                one two
                three four

                - five six
                  seven
                - eight

                imagebus a  b
                imagebus c
                """)
        let wide = HelpLayout.paragraphs(text, columns: 40)
        #expect(wide.hasPrefix("one two three four\n\n- five six seven\n- eight\n\n"), "\(wide)")
    }

    @Test func aWordThatIsTooLongIsNotDivided() {
        #expect(HelpLayout.filled("a bcdefgh i", to: 4) == "a\nbcdefgh\ni")
        #expect(HelpLayout.filled("", to: 4) == "")
    }
}
