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
        do throws(UsageError) {
            _ = try read(arguments, environment)
            return nil
        } catch {
            return error.message
        }
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

    @Test func everyCommandHasItsHelpWithExamples() {
        for command in Command.all {
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

    @Test func everyOptionOfACommandHasOneName() {
        for command in Command.all {
            let names = command.definitions.map(\.name)
            #expect(Set(names).count == names.count, "\(command.name)")
            let letters = command.definitions.compactMap(\.letter)
            #expect(Set(letters).count == letters.count, "\(command.name)")
        }
    }
}
