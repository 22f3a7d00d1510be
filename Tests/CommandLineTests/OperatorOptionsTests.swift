import CommandLineInterface
import ImageModel
import Messages
import Reporting
import StackAccess
import Testing

@testable import imagebus_cli

@Suite struct OperatorOptionsTests {
    private let environment = ["HOME": "/home/a"]
    private let hex = "00112233445566778899aabbccddeeff"

    private func blacklist(_ arguments: [String]) throws(UsageError) -> BlacklistOptions {
        let read = try OptionReader.read(
            arguments, Command.blacklist.definitions, environment: environment)
        return try BlacklistOptions(read, environment: environment)
    }

    private func cancel(_ arguments: [String]) throws(UsageError) -> CancelOptions {
        let read = try OptionReader.read(
            arguments, Command.cancel.definitions, environment: environment)
        return try CancelOptions(read, environment: environment)
    }

    private func cache(_ arguments: [String]) throws(UsageError) -> CacheOptions {
        let read = try OptionReader.read(
            arguments, Command.cache.definitions, environment: [:])
        return try CacheOptions(read, environment: [:])
    }

    @Test func anEntryOfTheCacheIsLookedForOrRemoved() throws {
        let look = try cache(["contains", "https://h/a.jpg"])
        #expect(look.action == .contains)
        #expect(look.key == "https://h/a.jpg")
        #expect(look.tiers == .all)
        let remove = try cache(["remove", "k", "--type", "memory", "--cache", "avatars"])
        #expect(remove.action == .remove)
        #expect(remove.tiers == .memory)
        #expect(remove.cache == "avatars")
        let clear = try cache(["clear", "--all", "--type", "disk"])
        #expect(clear.action == .clear && clear.key == "" && clear.tiers == .disk)
        let put = try cache(["put", "k", "-", "--type", "disk"])
        #expect(put.action == .put(file: "-"))
        #expect(put.key == "k")
        #expect(put.tiers == .disk)
    }

    @Test(arguments: [
        [], ["contains"], ["remove"], ["forget", "k"], ["contains", "k", "l"],
        ["clear"], ["clear", "k", "--all"], ["clear", "--all", "--cache", "a"],
        ["remove", "k", "--all"],
        ["contains", "k", "--type", "none"], ["put", "k"], ["put", "k", "f", "g"],
    ])
    func anythingElseOfACacheIsAUsageError(arguments: [String]) {
        #expect(throws: UsageError.self) { try cache(arguments) }
    }

    @Test func aBlacklistIsListedClearedOrFreedOfAURL() throws {
        #expect(try blacklist(["list"]).action == .list)
        #expect(try blacklist(["clear", "--json"]).action == .clear)
        #expect(try blacklist(["clear", "--json"]).stack.printsJSON)
        #expect(try blacklist(["remove", "http://a/b"]).action == .remove("http://a/b"))
    }

    @Test(arguments: [[], ["remove"], ["remove", "a", "b"], ["list", "a"], ["forget"]])
    func anythingElseOfABlacklistIsAUsageError(arguments: [String]) {
        #expect(throws: UsageError.self) { try blacklist(arguments) }
    }

    @Test func theHealthOfOneKindIsAskedForByItsNameAlsoInTheEnvironment() throws {
        func health(
            _ arguments: [String], _ environment: [String: String] = [:]
        ) throws(UsageError) -> HealthOptions {
            let all = self.environment.merging(environment) { $1 }
            let read = try OptionReader.read(
                arguments, Command.health.definitions, environment: all)
            return try HealthOptions(read, environment: all)
        }
        #expect(try health([]).only == nil)
        #expect(try health(["--only", "decode"]).only == .decode)
        #expect(try health([], ["IMAGEBUS_ONLY": "coordinator"]).only == .coordinator)
        #expect(throws: UsageError.self) { try health(["--only", "origin"]) }
        #expect(throws: UsageError.self) { try health(["decode"]) }
    }

    @Test func oneKindIsDrained() throws {
        func drain(_ arguments: [String]) throws(UsageError) -> DrainOptions {
            let read = try OptionReader.read(
                arguments, Command.drain.definitions, environment: environment)
            return try DrainOptions(read, environment: environment)
        }
        #expect(try drain(["cache"]).target == DrainTarget(.cache))
        let raw = DrainTarget(.decode, pool: PoolName("raw"))
        #expect(try drain(["decode/raw"]).target == raw)
        #expect(try drain(["coordinator", "--json"]).stack.printsJSON)
        let pools = [["raw"], ["decode/"], ["decode/Raw"], ["coordinator/coordinator"]]
        for arguments in [[], ["origin"], ["cache", "decode"]] + pools {
            #expect(throws: UsageError.self) { try drain(arguments) }
        }
    }

    @Test func aTokenOrAGroupIsCancelled() throws {
        let identifier = try #require(Identifier128(hex: hex))
        #expect(try cancel([hex]).target == .token(Token(identifier)))
        #expect(try cancel(["--group", hex]).target == .group(GroupID(identifier)))
    }

    @Test(arguments: [[], ["xyz"], ["--group", "1"], ["a", "b"]])
    func anythingElseIsNotCancelled(arguments: [String]) {
        #expect(throws: UsageError.self) { try cancel(arguments) }
        #expect(throws: UsageError.self) { try cancel(arguments + ["--group", hex, hex]) }
    }

    @Test func theListNamesWhatIsNotTriedAndForHowLong() throws {
        let entry = BlacklistReport.Entry(
            number: 1, url: "http://a/b.jpg", operation: "decode", reason: .poisoned,
            expiresInMilliseconds: 123_456)
        #expect(
            BlacklistTool.table([entry]) == """
                URL             OPERATION    REASON        FOR
                http://a/b.jpg     decode  poisoned  2 min 3 s

                """)
        #expect(
            try JSONText.text(BlacklistAnswer([entry])) == """
                {"entries":[{"expiresInMilliseconds":123456,"operation":"decode",\
                "reason":"poisoned","url":"http://a/b.jpg"}]}

                """)
        #expect(BlacklistTool.table([]) == "nothing is on the list\n")
    }
}
