import ProcessRuntime
import Testing

@testable import ImagebusWorker

@Suite struct ExtensionOptionsTests {
    private let environment = [
        "IMAGEBUS_RUNTIME_DIR": "/run/imagebus", "IMAGEBUS_POOL": "qoi", "IMAGEBUS_RESTARTS": "3",
        "IMAGEBUS_LIFE_FD": "3", "HOME": "/",
    ]

    @Test func theEnvironmentIsEnough() throws {
        let arguments = try ExtensionOptions.arguments([], environment: environment)
        #expect(arguments.value("runtime-dir") == "/run/imagebus")
        #expect(arguments.value("pool") == "qoi" && arguments.value("restarts") == "3")
        #expect(arguments.value("ready-fd") == "3")
    }

    @Test func theCommandLineGoesBeforeIt() throws {
        let words = ["--pool=other", "--runtime-dir", "/tmp/a=b", "--log-level", "debug"]
        let arguments = try ExtensionOptions.arguments(words, environment: environment)
        #expect(arguments.all("pool") == ["other"])
        #expect(arguments.value("runtime-dir") == "/tmp/a=b")
        #expect(arguments.value("log-level") == "debug")
    }

    /// Options that the supervisor passes to built-in programs aren't available here.
    @Test(arguments: [["--restarts", "1"], ["--secret-fd", "4"], ["file"], ["--pool"], ["-v"]])
    func whatIsNoArgumentIsRefused(_ words: [String]) {
        #expect(throws: ProgramArgumentsError.self) {
            try ExtensionOptions.arguments(words, environment: environment)
        }
    }

    @Test func itHasToKnowForWhomItWorks() {
        #expect(throws: ProgramArgumentsError.missingValue("runtime-dir")) {
            try ExtensionOptions.arguments(["--pool", "qoi"], environment: [:])
        }
        #expect(throws: ProgramArgumentsError.missingValue("pool")) {
            try ExtensionOptions.arguments(["--runtime-dir", "/"], environment: [:])
        }
    }

    @Test func helpIsAskedFor() {
        #expect(ExtensionOptions.wantHelp(["--pool", "qoi", "--help"]))
        #expect(ExtensionOptions.wantHelp(["-h"]) && !ExtensionOptions.wantHelp(["help"]))
        #expect(ExtensionOptions.help("qoi-coder", does: "decodes qoi").hasPrefix("qoi-coder: dec"))
    }
}
