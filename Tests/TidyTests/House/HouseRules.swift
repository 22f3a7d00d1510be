/// All rules that check a single file.
enum HouseRules {
    static func findings(_ source: SourceText) -> [Finding] {
        var found: [Finding] = []
        found += LineRules.tooLong(source)
        found += LineRules.tabs(source)
        found += LineRules.trailingSpace(source)
        found += FileRules.tooLong(source)
        found += FileRules.vagueName(source)
        found += WordRules.unfinishedWork(source)
        found += WordRules.pathsOfOneMachine(source)
        found += WordRules.bannedCode(source)
        if source.path.hasSuffix(".swift") {
            found += UncheckedSendableRule.findings(source)
            found += DocumentationRule.findings(source)
            found += FunctionLengthRule.findings(source)
        }
        return found
    }

    /// Generated code and drawings are exempt, as are test inputs.
    static func areFor(_ path: String) -> Bool {
        !path.contains(".pb-c.") && !path.hasSuffix(".svg") && !path.hasSuffix(".order")
            && !path.hasPrefix("Tests/Fuzz/Corpus/")
    }
}
