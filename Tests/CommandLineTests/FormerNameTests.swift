import CommandLineInterface
import Model
import TestKit
import Testing

@testable import imagebus_cli

/// Former names of options and values work like the current ones, and nothing shows them.
@Suite struct FormerNameTests {
    /// An option with a former name or value, and with the current one; a flag has no value.
    struct Renaming: Sendable, CustomStringConvertible {
        let command: String
        /// Operands and options that the option requires.
        let others: [String]
        let former: [String]
        let current: [String]

        init(_ line: String, _ former: String, _ current: String) {
            func words(_ text: String) -> [String] { text.split(separator: " ").map(String.init) }
            (command, others) = (words(line)[0], Array(words(line).dropFirst()))
            (self.former, self.current) = (words(former), words(current))
        }

        var description: String { "\(command) \(former.joined(separator: " "))" }
    }

    private static let renamings: [Renaming] =
        [
            Renaming("get u", "facts exif", "properties exif"),
            Renaming("get u", "properties gps,colours", "properties gps,colors"),
            Renaming("get u", "delivery pieces", "delivery chunks"),
            Renaming("get http://a/b", "colours 16", "colors 16"),
            Renaming("get http://a/b", "optimise", "optimize"),
            Renaming("prefetch http://a/b", "colours 16", "colors 16"),
            Renaming("prefetch http://a/b", "optimise", "optimize"),
            Renaming("animate a.png -o a.gif", "delivery pieces", "delivery chunks"),
            Renaming("serve", "blacklist-seconds 9", "failure-cache-seconds 9"),
            Renaming("serve", "blacklist-entries 9", "failure-cache-entries 9"),
        ] + ["serve --gateway :80", "url sign /a"].flatMap(gateway)

    private static func gateway(_ line: String) -> [Renaming] {
        [
            ("visitor-field X-Real-IP", "client-header X-Real-IP"),
            ("max-age-most 900", "max-age-limit 900"), ("head-limit 8K", "header-limit 8K"),
            ("head-time 5s", "header-timeout 5s"), ("idle-time 5s", "idle-timeout 5s"),
        ].map { Renaming(line, "gateway-\($0)", "gateway-\($1)") }
    }

    private static func arguments(_ option: [String]) -> [String] {
        ["--\(option[0])"] + option.dropFirst()
    }

    private static func variable(_ option: [String]) -> [String: String] {
        [OptionDefinition.environmentName(of: option[0]): option.count > 1 ? option[1] : "1"]
    }

    /// The options of a command as it reads them.
    private func parsed(
        _ renaming: Renaming, _ arguments: [String], _ variables: [String: String] = [:]
    ) throws -> AnyHashable {
        let environment = ["HOME": "/home/a"].merging(variables) { $1 }
        let options = try #require(commandOptions[renaming.command])
        return AnyHashable(try options.read(renaming.others + arguments, environment))
    }

    @Test(arguments: renamings) func aFormerNameHasTheSameEffect(renaming: Renaming) throws {
        let (former, current) = (renaming.former, renaming.current)
        let expected = try parsed(renaming, Self.arguments(current))
        #expect(try parsed(renaming, Self.arguments(former)) == expected)
        let byVariable = try parsed(renaming, [], Self.variable(current))
        #expect(try parsed(renaming, [], Self.variable(former)) == byVariable)
        let without = try parsed(renaming, [])
        #expect(expected != without && byVariable != without)
    }

    /// Help, manual and completions.
    @Test func nothingShowsAFormerName() {
        let definitions = Command.documented.flatMap(\.definitions)
        let former =
            definitions.flatMap { $0.formerNames + $0.formerValues.keys }
            + Command.documented.flatMap(\.formerNames)
        let texts =
            Command.documented.map { HelpText.text(of: $0) }
            + Shell.allCases.map { $0.script(Command.documented) }
            + [HelpText.overview, Self.withoutEscapes(ManualPage.text)]
        for text in texts { #expect(Self.words(of: text).isDisjoint(with: former)) }
    }

    /// The words of a text, without the dashes of options.
    private static func words(of text: String) -> Set<String> {
        let words = text.split { !$0.isLetter && !$0.isNumber && $0 != "-" }
        return Set(words.map { word in String(word.drop { $0 == "-" }) })
    }

    @Test func aFormerCommandIsTheCurrentOne() throws {
        #expect(ToolCommand.named("blacklist")?.command.name == Command.failureCache.name)
        for command in Command.documented {
            for name in [command.name] + command.formerNames {
                #expect(ToolCommand.named(name)?.command.name == command.name)
            }
        }
    }

    @Test func whatIsNotListedRunsNothing() {
        for name in ["", "Health", "healthy", "--health", "imagebus"] {
            #expect(ToolCommand.named(name) == nil)
        }
        let names = Command.documented.flatMap { [$0.name] + $0.formerNames }
        #expect(Set(names).count == names.count)
    }

    /// Returns the text of a manual page without the escapes of hyphens and fonts.
    private static func withoutEscapes(_ text: String) -> String {
        text.replacing("\\-", with: "-").replacing("\\fB", with: " ")
            .replacing("\\fI", with: " ").replacing("\\fR", with: " ")
    }

    /// A value that no option of this kind accepts, except for a header; for a flag, any value.
    @Test(arguments: renamings.filter { $0.former[0] != $0.current[0] })
    func errorsNameTheCurrentName(renaming: Renaming) {
        let (former, current) = (renaming.former[0], renaming.current[0])
        let isFlag = renaming.former.count == 1
        let message = complaint(renaming, isFlag ? ["--\(former)=x"] : ["--\(former)", "x"])
        guard let message else {
            #expect(former == "gateway-visitor-field")
            return
        }
        let words = Self.words(of: message)
        #expect(words.contains(current) && !words.contains(former), "\(message)")
    }

    private func complaint(_ renaming: Renaming, _ arguments: [String]) -> String? {
        do {
            _ = try parsed(renaming, arguments)
            return nil
        } catch {
            return (error as? UsageError)?.message
        }
    }

    /// The table has every renaming of an option.
    @Test func theTableIsComplete() {
        let definitions = Command.documented.flatMap(\.definitions)
        let names = Set(definitions.flatMap(\.formerNames))
        #expect(names.isSubset(of: Self.renamings.map { $0.former[0] }))
        let values = Set(definitions.flatMap { $0.formerValues.keys })
        let listed = Self.renamings.flatMap(\.former).flatMap { $0.split(separator: ",") }
        #expect(values.isSubset(of: listed.map { String($0) }))
    }

    // MARK: - config check

    private func report(_ text: String, _ variables: [String: String] = [:]) throws -> [String] {
        let folder = TestKit.TemporaryDirectory()
        let path = folder.write(Array(text.utf8), to: "f")
        let read = try OptionReader.read(
            ["check", path], Command.config.definitions, environment: variables)
        let options = try ConfigurationCheck.Options(read, variables)
        return try ConfigurationCheck.report(options).split(separator: "\n")
            .map { String($0).replacing(folder.path + "/", with: "") }
    }

    @Test(arguments: renamings) func checkNotesAVariable(renaming: Renaming) throws {
        let (former, current) = (renaming.former, renaming.current)
        let names = [former[0], current[0]].map { OptionDefinition.environmentName(of: $0) }
        let isOfValue = former[0] == current[0]
        let note =
            isOfValue
            ? "\(names[0])=\(former[1]) was renamed to \(names[1])=\(current[1])"
            : "\(names[0]) was renamed to \(names[1])"
        let lines = try report("", Self.variable(former))
        #expect(lines.count == 2 && lines.first?.hasPrefix("f: ok, ") == true, "\(lines)")
        #expect(lines.last == "note: \(note)")
        #expect(try report("", Self.variable(current)).count == 1)
    }

    @Test func checkNotesAKey() throws {
        let lines = try report("\npresets: {a: {colours: 8, format: png}}\n")
        #expect(lines.count == 2 && lines.first?.hasPrefix("f: ok, ") == true, "\(lines)")
        #expect(lines.last == "f:2: note: colours was renamed to colors")
    }
}
