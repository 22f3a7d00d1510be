import CommandLineInterface
import Testing

@testable import imagebus_cli

@Suite struct OptionReaderTests {
    private static let definitions = [
        OptionDefinition("decode", value: "N"),
        OptionDefinition("output", letter: "o", value: "FILE"),
        OptionDefinition("allow-address", value: "A", separators: [",", " "]),
        OptionDefinition("allow-private-networks"),
        OptionDefinition("blur", value: "R", visibility: .later),
        OptionDefinition("parent-pid", value: "P", visibility: .hidden),
        OptionDefinition("paint", value: "WORDS", of: .list(["gray", "red"]))
            .formerly(["tinge"], values: ["grey": "gray"]),
        OptionDefinition("prettify").formerly(["prettifies"]),
        .help,
    ]

    private func read(
        _ arguments: [String], _ environment: [String: String] = [:]
    ) throws(UsageError) -> ReadOptions {
        try OptionReader.read(arguments, Self.definitions, environment: environment)
    }

    private func complaint(
        _ arguments: [String], _ environment: [String: String] = [:]
    ) -> String? {
        usageError { () throws(UsageError) in _ = try read(arguments, environment) }
    }

    @Test func anOptionIsNoValue() throws {
        #expect(
            complaint(["--decode", "-o", "f"])
                == "--decode requires a value, but '-o' is an option")
        #expect(
            complaint(["-o", "--help"]) == "--output requires a value, but '--help' is an option")
        #expect(try read(["--decode", "-1", "-o", "-"]).entries.map(\.value) == ["-1", "-"])
    }

    @Test func optionsAndOperandsKeepTheirOrder() throws {
        let read = try read(["--decode", "2", "url", "-oout.jpg", "--decode=3", "--", "--decode"])
        #expect(read.entries.map(\.name) == ["decode", "output", "decode"])
        #expect(read.entries.map(\.value) == ["2", "out.jpg", "3"])
        #expect(read.operands == ["url", "--decode"])
    }

    @Test func aDashAloneIsAnOperandAndAValue() throws {
        let read = try read(["-", "-o", "-"])
        #expect(read.operands == ["-"])
        #expect(read.last("output") == "-")
    }

    @Test func theCommandLineWinsOverTheEnvironment() throws {
        let environment = ["IMAGEBUS_DECODE": "7", "IMAGEBUS_OUTPUT": "x"]
        let read = try read(["--decode", "2"], environment)
        #expect(read.all("decode") == ["2"])
        #expect(read.last("output") == "x")
        #expect(read.entries.first?.origin == .environment)
    }

    @Test(arguments: [("1", true), ("true", true), ("ON", true), ("0", false), ("", false)])
    func aFlagInTheEnvironmentIsYesOrNo(_ text: String, _ isSet: Bool) throws {
        let read = try read([], ["IMAGEBUS_ALLOW_PRIVATE_NETWORKS": text])
        #expect(read.isSet("allow-private-networks") == isSet)
    }

    @Test func aFlagInTheEnvironmentIsNothingElse() {
        #expect(
            complaint([], ["IMAGEBUS_ALLOW_PRIVATE_NETWORKS": "maybe"])
                == "IMAGEBUS_ALLOW_PRIVATE_NETWORKS=maybe: use 1 or 0, true or false")
    }

    @Test func severalValuesInTheEnvironmentAreTakenApart() throws {
        let read = try read([], ["IMAGEBUS_ALLOW_ADDRESS": "10.0.0.1:80, [::1]:81"])
        #expect(read.all("allow-address") == ["10.0.0.1:80", "[::1]:81"])
    }

    @Test func whatOnlyOurProcessesUseIsNotTakenFromTheEnvironment() throws {
        #expect(try read([], ["IMAGEBUS_PARENT_PID": "1", "IMAGEBUS_HELP": "1"]).entries == [])
    }

    @Test(arguments: [
        (["--bogus", "x"], "unknown option '--bogus'"),
        (["--bogus=x"], "unknown option '--bogus'"),
        (["--outptu", "f"], "unknown option '--outptu'. Did you mean '--output'?"),
        (["--parent-pit", "1"], "unknown option '--parent-pit'"),
        (["-z"], "unknown option '-z'"),
        (["--decode"], "--decode requires a value"),
        (["-o"], "-o requires a value"),
        (["--allow-private-networks=1"], "--allow-private-networks takes no value"),
        (["--allow"], "'--allow' is ambiguous: --allow-address, --allow-private-networks"),
        (["--blur", "2"], "--blur is not supported by this version"),
    ])
    func whatMakesNoSenseIsNamed(_ arguments: [String], _ message: String) {
        #expect(complaint(arguments) == message)
    }

    /// A former name is read like the current one: in full, as a prefix, and from its variable.
    @Test(arguments: [
        ["--paint", "red,gray", "--prettify"], ["--tinge=red,grey", "--prettifies"],
        ["--ting", "red,gray", "--prettif"],
    ])
    func aFormerNameIsTheCurrentOne(_ arguments: [String]) throws {
        let read = try read(arguments)
        #expect(read.entries.map(\.name) == ["paint", "prettify"])
        #expect(read.entries.map(\.value) == ["red,gray", ""])
    }

    @Test func aVariableWithAFormerNameComesAfterTheCurrentOne() throws {
        let former = ["IMAGEBUS_TINGE": "grey", "IMAGEBUS_PRETTIFIES": "1"]
        let read = try read([], former)
        #expect(read.last("paint") == "gray" && read.isSet("prettify"))
        let both = former.merging(["IMAGEBUS_PAINT": "red", "IMAGEBUS_PRETTIFY": "0"]) { $1 }
        let current = try self.read([], both)
        #expect(current.last("paint") == "red" && !current.isSet("prettify"))
        // An empty variable is like an unset one.
        let empty = former.merging(["IMAGEBUS_PAINT": ""]) { $1 }
        #expect(try self.read([], empty).last("paint") == "gray")
        #expect(try self.read(["--paint", "red"], former).all("paint") == ["red"])
    }

    @Test(arguments: [
        (["--tinge"], "--paint requires a value"),
        (["--decode", "--tinge"], "--decode requires a value, but '--tinge' is an option"),
        (["--prettifies=1"], "--prettify takes no value"),
        (["--tinje", "red"], "unknown option '--tinje'"),
    ])
    func aMistakeNamesTheCurrentName(_ arguments: [String], _ message: String) {
        #expect(complaint(arguments) == message)
    }

    @Test func aVariableWithAFormerNameIsNoted() {
        func notes(_ environment: [String: String]) -> [String] {
            EnvironmentSpelling.notes(environment, options: Self.definitions)
        }
        #expect(notes(["IMAGEBUS_PAINT": "red", "IMAGEBUS_TINGE": "", "HOME": "/"]) == [])
        let renamed = ["IMAGEBUS_TINGE was renamed to IMAGEBUS_PAINT"]
        #expect(notes(["IMAGEBUS_TINGE": "red"]) == renamed)
        #expect(
            notes(["IMAGEBUS_PAINT": "red,grey"])
                == ["IMAGEBUS_PAINT=red,grey was renamed to IMAGEBUS_PAINT=red,gray"])
        let warnings = EnvironmentSpelling.warnings(
            ["IMAGEBUS_TINGE": "red"], options: Self.definitions, others: [])
        #expect(warnings == [])
    }

    @Test func everyCommandHasItsHelpWithExamples() {
        for command in Command.documented {
            let text = HelpText.text(of: command)
            for definition in command.definitions where definition.visibility == .shown {
                #expect(text.contains("--\(definition.name)"), "\(command.name)")
            }
            #expect(text.contains("examples:\n  imagebus \(command.name)"))
            #expect(!text.contains("parent-pid") && !text.contains("--filter"))
            let widest = text.split(separator: "\n").map(\.count).max() ?? 0
            #expect(widest <= 100, "\(command.name)")
        }
    }

    /// Help of different widths differs only in its line breaks and columns.
    @Test func helpHasTheSameWordsInEveryWidth() {
        for command in Command.documented {
            let words = HelpText.text(of: command).split(whereSeparator: \.isWhitespace)
            for columns in [40, 60, 80] {
                let text = HelpText.text(of: command, columns: columns)
                #expect(text.split(whereSeparator: \.isWhitespace) == words, "\(command.name)")
            }
            #expect(command.shownDefinitions.allSatisfy { !$0.help.isEmpty }, "\(command.name)")
        }
    }

    @Test func everyOptionOfACommandHasOneName() {
        for command in Command.documented {
            let names = command.definitions.flatMap { [$0.name] + $0.formerNames }
            #expect(Set(names).count == names.count, "\(command.name)")
            let letters = command.definitions.compactMap(\.letter)
            #expect(Set(letters).count == letters.count, "\(command.name)")
        }
    }
}
