import CommandLineInterface
import Model
import Reporting
import Testing

@testable import imagebus_cli

@Suite struct OperatorOptionsTests {
    private let environment = ["HOME": "/home/a"]
    private let hex = "00112233445566778899aabbccddeeff"

    private func failureCache(_ arguments: [String]) throws(UsageError) -> FailureCacheOptions {
        let read = try OptionReader.read(
            arguments, Command.failureCache.definitions, environment: environment)
        return try FailureCacheOptions(read, environment: environment)
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
        let one = try cache(["clear", "--cache", "a"])
        #expect(one.action == .clearCache && one.selection == EntrySelection(cache: "a"))
        let put = try cache(["put", "k", "-", "--type", "disk"])
        #expect(put.action == .put(file: "-"))
        #expect(put.key == "k")
        #expect(put.tiers == .disk)
    }

    @Test func tagsAndExtendedDataAreOfWhatTheyMeanSomethingFor() throws {
        let remove = try cache(["remove", "--tag", "shop", "--cache", "c"])
        #expect(remove.action == .removeSelected && remove.tags.isEmpty)
        #expect(remove.selection == EntrySelection(cache: "c", tag: "shop"))
        for action in ["list", "count", "size"] {
            #expect(try cache([action, "--tag", "a:b"]).selection.tag == "a:b")
        }
        let put = try cache(["put", "k", "-", "--tag", "a", "--tag", "b"])
        #expect(put.tags == ["a", "b"] && put.selection.isAll && put.extendedData == nil)
        let data = ["--extended-data", "/f", "--media-type", "a/b"]
        let both = try cache(["put", "k", "-"] + data)
        #expect(both.extendedData?.path == "/f" && both.extendedData?.mediaType == "a/b")
        for wrong in [
            ["remove", "k", "--tag", "a"], ["contains", "k", "--tag", "a"], ["trim", "--tag", "a"],
            ["remove", "--tag", "a b/"], ["remove", "--tag", "a", "--tag", "b"],
            ["put", "k", "-", "--media-type", "a/b"], ["remove", "k"] + data,
            ["put", "k", "-", "--extended-data", "/f", "--media-type", "ab"],
        ] {
            #expect(throws: UsageError.self, "\(wrong)") { try cache(wrong) }
        }
    }

    @Test func entriesAreMeantByWhatTheyAre() throws {
        let remove = try cache(["remove", "--url", "u", "--older-than", "2d", "--type", "disk"])
        #expect(remove.action == .removeSelected && remove.tiers == .disk)
        #expect(remove.selection == EntrySelection(url: "u", olderThanSeconds: 172_800))
        let list = try cache(["list", "--prefix", "p", "--cache", "c", "--limit", "5"])
        #expect(list.action == .list && list.page.limit == 5 && list.page.after == 0)
        #expect(list.selection == EntrySelection(cache: "c", prefix: "p"))
        #expect(try cache(["list", "--after", "9223372036854775809"]).page.after == 1 << 63 | 1)
        #expect(try cache(["count"]).selection.isAll)
        #expect(try cache(["size", "--type", "memory"]).tiers == .memory)
        #expect(try cache(["get", "k"]).action == .get(file: "-"))
        #expect(try cache(["get", "k", "-o", "/f"]).action == .get(file: "/f"))
        #expect(try cache(["stats"]).action == .stats)
        #expect(try cache(["trim", "--type", "disk"]).action == .trim)
    }

    @Test(arguments: [
        ["remove", "k", "--url", "u"], ["contains", "k", "--prefix", "p"], ["clear", "--url", "u"],
        ["remove", "--older-than", "soon"], ["remove", "--older-than", "-1"],
        ["remove", "--type", "disk"],
        ["list", "--limit", "0"], ["count", "--limit", "2"], ["trim", "--cache", "c"],
        ["stats", "--prefix", "p"], ["list", "k"], ["get"], ["list", "--after", "x"],
        ["put", "k", "f", "-o", "g"], ["remove", "--tagged", "t"],
    ])
    func whatMeansNothingThereIsAUsageError(arguments: [String]) {
        #expect(throws: UsageError.self) { try cache(arguments) }
    }

    @Test func listsAndCountsAreShortTables() throws {
        let entry = EntryDescription(
            key: "http://h/a.jpg", tier: .disk, bytes: 1_234, format: .jpeg,
            size: PixelSize(width: 40, height: 30), storedMilliseconds: 5, accessedMilliseconds: 6)
        var page = EntryPage(entries: [entry], next: 7)
        #expect(
            CacheTool.table(page) == """
                KEY             TIER  BYTES  FORMAT   SIZE
                http://h/a.jpg  disk   1234    jpeg  40x30
                more entries: --after 7

                """)
        #expect(
            try JSONText.text(CacheTool.object(page)) == """
                {"entries":[{"accessedAt":6,"bytes":1234,"cache":"default","format":"jpeg",\
                "height":30,"key":"http://h/a.jpg","storedAt":5,"tier":"disk","width":40}],\
                "next":"7"}

                """)
        page.entries[0].cache = "x"
        page.next = 0
        #expect(
            CacheTool.table(page) == """
                KEY             CACHE  TIER  BYTES  FORMAT   SIZE
                http://h/a.jpg      x  disk   1234    jpeg  40x30

                """)
        #expect(CacheTool.table(EntryPage()) == "no matching entries\n")
        let gone = EntryPage(disk: EntryCount(entries: 2, bytes: 2_048))
        #expect(
            CacheTool.sentence(gone, .all, verb: "removed")
                == "removed 0 from memory (0 bytes), 2 from disk (2.0 KB)\n")
    }

    @Test(arguments: [
        [], ["contains"], ["remove"], ["forget", "k"], ["contains", "k", "l"],
        ["clear"], ["clear", "k", "--all"], ["clear", "--all", "--cache", "a"],
        ["clear", "--cache", "a", "--url", "u"],
        ["remove", "k", "--all"],
        ["contains", "k", "--type", "none"], ["put", "k"], ["put", "k", "f", "g"],
    ])
    func anythingElseOfACacheIsAUsageError(arguments: [String]) {
        #expect(throws: UsageError.self) { try cache(arguments) }
    }

    @Test func aBlacklistIsListedClearedOrFreedOfAURL() throws {
        #expect(try failureCache(["list"]).action == .list)
        #expect(try failureCache(["clear", "--json"]).action == .clear)
        #expect(try failureCache(["clear", "--json"]).stack.printsJSON)
        #expect(try failureCache(["remove", "http://a/b"]).action == .remove("http://a/b"))
    }

    @Test(arguments: [[], ["remove"], ["remove", "a", "b"], ["list", "a"], ["forget"]])
    func anythingElseOfABlacklistIsAUsageError(arguments: [String]) {
        #expect(throws: UsageError.self) { try failureCache(arguments) }
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
        let entry = FailureCacheReport.Entry(
            number: 1, url: "http://a/b.jpg", operation: "decode", reason: .poisoned,
            expiresInMilliseconds: 123_456)
        #expect(
            FailureCacheTool.table([entry]) == """
                URL             OPERATION    REASON        FOR
                http://a/b.jpg     decode  poisoned  2 min 3 s

                """)
        #expect(
            try JSONText.text(FailureCacheTool.object([entry])) == """
                {"entries":[{"expiresInMilliseconds":123456,"operation":"decode",\
                "reason":"poisoned","url":"http://a/b.jpg"}]}

                """)
        #expect(FailureCacheTool.table([]) == "the failure cache is empty\n")
    }
}
