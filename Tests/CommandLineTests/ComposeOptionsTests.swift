import CommandLineInterface
import Model
import TestKit
import Testing

@testable import imagebus_cli

/// The coordinator's settings in the compose file are exactly those of the program.
@Suite struct ComposeOptionsTests {
    /// Settings of other processes, or set by the images.
    private static let others: Set<String> = Set(CacheSetting.allCases.map(\.rawValue)).union([
        "only", "pool", "input-pools", "download", "decode", "transform", "runtime-dir",
        "cache-dir",
        "help", "version",
    ])
    /// Settings of the download workers.
    private static let downloads = Set(DownloadSetting.allCases.map(\.rawValue)).union([
        "allow-private-networks", "allow-address", "deny-address", "ca-file",
    ])
    /// Settings of the gateway.
    private static let gateway = Set(GatewaySetting.allCases.map { "gateway-\($0.rawValue)" })
        .union(["gateway"])
    private static let variables = Command.serve.definitions
        .filter {
            $0.visibility == .shown
                && !others.union(downloads).union(gateway).contains($0.name)
        }
        .map(\.environmentName)

    /// The settings below a line of the file that equals `head`, without their indentation.
    private func settings(below head: String, in yaml: String) -> [Substring] {
        let lines = yaml.split(separator: "\n")
        guard let start = lines.firstIndex(where: { $0 == head }) else { return [] }
        let margin = String(repeating: " ", count: head.prefix { $0 == " " }.count + 2)
        return lines[(start + 1)...].prefix { $0.hasPrefix(margin) }
            .map { line in line.drop { $0 == " " } }
    }

    /// Variables with the services that they configure.
    private static let rows: [(String, String)] =
        variables.map { ("coordinator", $0) }
        + downloads.map { ("download", OptionDefinition.environmentName(of: $0)) }
        + gateway.map { ("gateway", OptionDefinition.environmentName(of: $0)) }

    @Test(arguments: rows)
    func anOptionIsInTheStackAndItsDocument(service: String, variable: String) throws {
        let file = try #require(FileBytes.text(RepositoryRoot.file("docker/compose.yaml")))
        // A long name has its value in the next line.
        let yaml = file.replacing(":\n        ${", with: ": ${")
        var lines = settings(below: "  \(service):", in: yaml)
        if service == "coordinator" {
            #expect(lines.contains("<<: *log"))
            lines += settings(below: "x-log: &log", in: yaml)
        }
        // The port of the gateway is published, and fixed.
        let line = variable == "IMAGEBUS_GATEWAY" ? ": \":8080\"" : ": ${\(variable):-"
        #expect(lines.contains { $0.hasPrefix(variable + line) })
        let document = try #require(FileBytes.text(RepositoryRoot.file("docker/README.md")))
        // The table omits the common prefix of the gateway's names.
        let short = variable.replacing("IMAGEBUS_GATEWAY_", with: "_")
        #expect(document.contains("`\(short)`"))
    }

    @Test func whatIsNotTheCoordinatorsIsAnOptionAllTheSame() {
        let names = Set(Command.serve.definitions.map(\.name))
        let elsewhere = Self.others.union(Self.downloads).union(Self.gateway)
        #expect(elsewhere.subtracting(names) == [])
        #expect(Self.variables.contains("IMAGEBUS_CONFIG"))
    }

    @Test func whatComposeLeavesEmptyIsAsIfItWereNotSet() throws {
        let bare = ["HOME": "/home/a", "IMAGEBUS_ONLY": "coordinator"]
        var empty = bare
        for variable in Self.variables { empty[variable] = "" }
        let expected = try ServeOptions.read([], bare)
        #expect(try ServeOptions.read([], empty) == expected)
    }

    @Test func aBlockEndsWhereItsIndentationDoes() {
        let yaml = "a:\n  coordinator:\n    X: 1\n      Y: 2\n\n  # -- b\n  cache:\n    Z: 3\n"
        #expect(settings(below: "  coordinator:", in: yaml) == ["X: 1", "Y: 2"])
        #expect(settings(below: "  none:", in: yaml) == [])
    }
}
