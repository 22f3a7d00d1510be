import CommandLineInterface
import Testing

@testable import imagebus_cli

/// A misspelled variable has no effect and causes a warning.
@Suite struct EnvironmentSpellingTests {
    private func warnings(_ names: String...) -> [String] {
        EnvironmentSpelling.warnings(
            Dictionary(uniqueKeysWithValues: names.map { ($0, "1") }),
            options: Command.documented.flatMap(\.definitions), others: ["IMAGEBUS_PROGRAMS"])
    }

    @Test func theNearestVariableIsNamed() {
        let messages = warnings("IMAGEBUS_DECOD", "IMAGEBUS_TIMEOUT", "IMAGEBUS_CACHEDIR")
        #expect(messages.count == 2, "\(messages)")
        #expect(
            messages.first?.hasSuffix("Did you mean IMAGEBUS_CACHE_DIR?") == true, "\(messages)")
        #expect(messages.last?.hasSuffix("Did you mean IMAGEBUS_DECODE?") == true, "\(messages)")
    }

    @Test func otherNamesAreSomebodyElses() {
        #expect(warnings("IMAGEBUS_PROGRAMS", "IMAGEBUS_FIXTURES", "IMAGEBUS_VERSION_TAG") == [])
        #expect(warnings("DECODE", "IMAGEBUSS_DECODE", "HOME") == [])
    }

    /// Variables of any command are known to all commands.
    @Test func whatIsForAnotherCommandIsNoMistake() {
        let all = Command.documented.flatMap(\.definitions).map(\.environmentName)
        for name in all { #expect(warnings(name) == [], "\(name)") }
    }
}
