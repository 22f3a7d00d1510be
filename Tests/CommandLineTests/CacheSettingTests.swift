import CommandLineInterface
import Model
import Supervision
import TestKit
import Testing

@testable import imagebus_cli

/// One table of settings is the source of options, variables, arguments, help and documents.
@Suite struct CacheSettingTests: OptionTests {
    typealias Options = ServeOptions

    /// A value of each setting that isn't its default.
    static let examples: [CacheSetting: String] = [
        .memoryLimit: "64M", .memoryEntries: "7", .diskLimit: "5G", .diskEntries: "9",
        .maxAge: "2h", .expireType: "creation", .lowWater: "80", .memoryCache: "no",
        .diskCache: "no", .diskFirstUse: "no", .writeBehind: "no",
    ]

    @Test(arguments: CacheSetting.allCases)
    func everySettingIsAnOptionAVariableAndAnArgument(setting: CacheSetting) throws {
        let text = try #require(Self.examples[setting])
        let value = try #require(setting.value(of: text))
        let byOption = try options(["--\(setting.rawValue)", text])
        let variable = OptionDefinition.environmentName(of: setting.rawValue)
        let byVariable = try options([], ["HOME": "/home/a", variable: text])
        #expect(byOption.cacheArguments == byVariable.cacheArguments)
        let cache = byOption.children(programs: "/p").first { $0.kind == .cache }
        let arguments = try #require(cache?.arguments)
        let place = try #require(arguments.firstIndex(of: "--\(setting.rawValue)"))
        #expect(setting.value(of: arguments[place + 1]) == value)
        #expect(throws: UsageError.self) { try options(["--\(setting.rawValue)", "so lala"]) }
    }

    @Test(arguments: CacheSetting.allCases)
    func everySettingIsInTheDocuments(setting: CacheSetting) throws {
        let variable = OptionDefinition.environmentName(of: setting.rawValue)
        let compose = try #require(FileBytes.text(RepositoryRoot.file("docker/compose.yaml")))
        #expect(compose.contains("\(variable): ${\(variable):-"))
        let containers = try #require(FileBytes.text(RepositoryRoot.file("docker/README.md")))
        #expect(containers.contains("`\(variable)`"))
        let example = try #require(FileBytes.text(RepositoryRoot.file("Examples/imagebus.yaml")))
        #expect(example.contains("\(setting.rawValue): "))
        let semantics = try #require(FileBytes.text(RepositoryRoot.file("Proto/SEMANTICS.md")))
        #expect(semantics.contains("| \(setting.rawValue) |"))
    }

    @Test func onlyTheDiskMayHaveNoLimit() {
        #expect(CacheSetting.diskLimit.value(of: "none") == 0)
        #expect(CacheSetting.diskLimit.text(of: 0) == "none")
        #expect(CacheSetting.diskLimit.permits(0))
        #expect(CacheSetting.memoryLimit.value(of: "none") == nil)
        #expect(CacheSetting.diskLimit.value(of: "0") == nil)
    }

    @Test func aTextOfASettingIsItsValueAgain() {
        for setting in CacheSetting.allCases {
            let value = setting.value(of: Self.examples[setting] ?? "")
            #expect(value.map { setting.permits($0) } == true)
            #expect(value.flatMap { setting.value(of: setting.text(of: $0)) } == value)
        }
    }

    @Test(
        arguments: [
            ("90s", 90), ("90", 90), ("15m", 900), ("12h", 43_200), ("7d", 604_800),
            ("4w", 2_419_200),
            ("0", 0),
        ] as [(String, Int64)])
    func durationsAreWholeSeconds(text: String, seconds: Int64) {
        #expect(DurationText.seconds(of: text) == seconds)
    }

    @Test(arguments: ["", "d", "-1s", "1.5h", "1y", "99999999999w", "never"])
    func anythingElseIsNoDuration(text: String) {
        #expect(DurationText.seconds(of: text) == nil)
    }
}
