import Testing

@Suite struct CodeOnlyTests {
    @Test(arguments: [
        ("let a = 1 // note", "let a = 1        "),
        ("a /* b /* c */ d */ e", "a                   e"),
        (#"let s = "actor x" + y"#, #"let s = "       " + y"#),
        (#"f("a\"b") + c"#, #"f("    ") + c"#),
        (#"f("a\(g("x") + h)b") + c"#, #"f("  (g(" ") + h) ") + c"#),
        (##"f(#"a"b\(c"#) + d"##, ##"f(#"      "#) + d"##),
    ])
    func commentsAndLiteralsAreBlanked(source: String, code: String) {
        #expect(CodeOnly.text(of: source) == code)
    }

    @Test func linesKeepTheirNumbersInMultilineLiterals() {
        let source = "let a = \"\"\"\n    import X \"quoted\"\n    \"\"\"\nimport Y\n"
        #expect(
            CodeOnly.text(of: source).split(separator: "\n", omittingEmptySubsequences: false).map {
                $0.trimmed
            } == ["let a = \"\"\"", "", "\"\"\"", "import Y", ""])
    }
}
