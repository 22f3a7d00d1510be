import ConfigurationFile
import Model
import Testing

/// Former names of keys and values work like the current ones, and are noted.
@Suite struct FormerNameFileTests {
    /// A text with `NAME` in place of a name, the former name and the current one.
    struct Renaming: Sendable, CustomStringConvertible {
        let text: String
        let former: String
        let current: String

        var description: String { former }

        func file(with name: String) -> String { text.replacing("NAME", with: name) }
    }

    private static let renamings: [Renaming] =
        [
            Renaming(
                text: "pools: {p: {kind: cache, trust: external}}\n"
                    + "caches: {a: {pool: p, NAME: 90}}",
                former: "patience", current: "timeout"),
            Renaming(
                text: "pools:\n  p: {kind: cache, NAME}", former: "trust: foreign",
                current: "trust: external"),
            Renaming(
                text: "presets:\n  a: {format: png, NAME: 8}", former: "colours",
                current: "colors"),
            Renaming(
                text: "presets:\n  a: {NAME: yes}", former: "optimise", current: "optimize"),
        ]
        + GatewaySetting.allCases.flatMap { setting in
            setting.formerNames.map { former in
                Renaming(
                    text: "gateway:\n  {listen: ':80', NAME: '1024'}", former: former,
                    current: setting.rawValue)
            }
        }

    @Test(arguments: renamings) func aFormerNameHasTheSameEffect(renaming: Renaming) throws {
        let expected = try check(renaming.file(with: renaming.current))
        #expect(expected.formerNames == [])
        let former = try check(renaming.file(with: renaming.former))
        #expect(former.configuration == expected.configuration)
        #expect(
            former.formerNames
                == [FormerName(line: 2, renaming.former, current: renaming.current)])
        #expect(
            former.formerNames.map(\.description)
                == ["2: note: \(renaming.former) was renamed to \(renaming.current)"])
        #expect(try read(renaming.file(with: renaming.former)) == expected.configuration)
    }

    @Test func everySettingOfTheGatewayThatWasRenamedIsChecked() {
        #expect(Self.renamings.count == 4 + 5)
    }

    @Test func onlyOneOfTheNamesMayBeGiven() {
        #expect(
            faults(in: "presets:\n  a: {format: png, colors: 8,\n    colours: 8}")
                == ["f:3: colours was renamed to colors: use only colors"])
    }

    @Test func errorsNameTheCurrentName() {
        let pools = "pools: {p: {kind: cache, trust: foreign}}\n"
        for (text, reason) in [
            (pools + "caches: {a: {pool: p, patience: 0}}", "timeout: expected a number"),
            (
                "pools: {p: {kind: decode, trust: alien}}",
                "expected one of own, external, not 'alien'"
            ),
        ] {
            let found = faults(in: text)
            #expect(found.contains { $0.contains(reason) }, "\(found)")
            #expect(!found.contains { $0.contains("foreign") || $0.contains("patience") })
        }
    }

    private func check(
        _ text: String
    ) throws -> (configuration: Configuration, formerNames: [FormerName]) {
        try ConfigurationFile.check(Array(text.utf8), path: "f")
    }
}
