import CommandLineInterface
import Model
import Reporting
import Testing

@testable import imagebus_cli

@Suite struct OperatorOptionsTests: OptionTests {
    typealias Options = CacheOptions

    private let hex = "00112233445566778899aabbccddeeff"

    @Test func anEntryOfTheCacheIsLookedForOrRemoved() throws {
        let look = try options(["contains", "https://h/a.jpg"])
        #expect(look.action == .contains)
        #expect(look.key == "https://h/a.jpg")
        #expect(look.tiers == .all)
        let remove = try options(["remove", "k", "--type", "memory", "--cache", "avatars"])
        #expect(remove.action == .remove && remove.hasKey)
        #expect(remove.tiers == .memory)
        #expect(remove.cache == "avatars")
        let clear = try options(["clear", "--all", "--type", "disk"])
        #expect(clear.action == .clear && clear.key == "" && clear.tiers == .disk)
        let one = try options(["clear", "--cache", "a"])
        #expect(one.action == .clear && one.selection == EntrySelection(cache: "a"))
        let put = try options(["put", "k", "-", "--type", "disk"])
        #expect(put.action == .put && put.file == "-")
        #expect(put.key == "k")
        #expect(put.tiers == .disk)
    }

    @Test func tagsAndExtendedDataAreOfWhatTheyMeanSomethingFor() throws {
        let remove = try options(["remove", "--tag", "shop", "--cache", "c"])
        #expect(remove.action == .remove && !remove.hasKey && remove.tags.isEmpty)
        #expect(remove.selection == EntrySelection(cache: "c", tag: "shop"))
        for action in ["list", "count", "size"] {
            #expect(try options([action, "--tag", "a:b"]).selection.tag == "a:b")
        }
        let put = try options(["put", "k", "-", "--tag", "a", "--tag", "b"])
        #expect(put.tags == ["a", "b"] && put.selection.isAll && put.extendedData == nil)
        let data = ["--extended-data", "/f", "--media-type", "a/b"]
        let both = try options(["put", "k", "-"] + data)
        #expect(both.extendedData?.path == "/f" && both.extendedData?.mediaType == "a/b")
        for wrong in [
            ["remove", "k", "--tag", "a"], ["contains", "k", "--tag", "a"], ["trim", "--tag", "a"],
            ["remove", "--tag", "a b/"], ["remove", "--tag", "a", "--tag", "b"],
            ["put", "k", "-", "--media-type", "a/b"], ["remove", "k"] + data,
            ["put", "k", "-", "--extended-data", "/f", "--media-type", "ab"],
        ] {
            #expect(throws: UsageError.self, "\(wrong)") { try options(wrong) }
        }
    }

    @Test func entriesAreMeantByWhatTheyAre() throws {
        let remove = try options(["remove", "--url", "u", "--older-than", "2d", "--type", "disk"])
        #expect(remove.action == .remove && !remove.hasKey && remove.tiers == .disk)
        #expect(remove.selection == EntrySelection(url: "u", olderThanSeconds: 172_800))
        let list = try options(["list", "--prefix", "p", "--cache", "c", "--limit", "5"])
        #expect(list.action == .list && list.limit == 5 && list.after == 0)
        #expect(list.selection == EntrySelection(cache: "c", prefix: "p"))
        #expect(try options(["list", "--after", "9223372036854775809"]).after == 1 << 63 | 1)
        #expect(try options(["count"]).selection.isAll)
        #expect(try options(["size", "--type", "memory"]).tiers == .memory)
        #expect(try options(["get", "k"]).file == "-")
        #expect(try options(["get", "k", "-o", "/f"]).file == "/f")
        #expect(try options(["stats"]).action == .stats)
        #expect(try options(["trim", "--type", "disk"]).action == .trim)
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
        #expect(throws: UsageError.self) { try options(arguments) }
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
        #expect(throws: UsageError.self) { try options(arguments) }
    }

    /// Reads the question of a command, and with it whether the answer is printed as JSON.
    private func read<Question>(
        _ command: Command, _ question: (ReadOptions) throws(UsageError) -> Question,
        _ arguments: [String]
    ) throws(UsageError) -> (question: Question, printsJSON: Bool) {
        let read = try OptionReader.read(arguments, command.definitions, environment: [:])
        let stack = try OperatorOptions(read, environment: [:])
        return (try question(read), stack.printsJSON)
    }

    private func failureCache(
        _ arguments: [String]
    ) throws(UsageError) -> (question: FailureCacheCommand, printsJSON: Bool) {
        try read(.failureCache, FailureCacheTool.command, arguments)
    }

    private func drain(
        _ arguments: [String]
    ) throws(UsageError) -> (question: DrainTarget, printsJSON: Bool) {
        try read(.drain, DrainTarget.init, arguments)
    }

    private func cancel(_ arguments: [String]) throws(UsageError) -> CancelTool.Target {
        try read(.cancel, CancelTool.target, arguments).question
    }

    @Test func aBlacklistIsListedClearedOrFreedOfAURL() throws {
        #expect(try failureCache(["list"]) == (.list(after: 0), false))
        #expect(try failureCache(["clear", "--json"]) == (.clear, true))
        #expect(try failureCache(["remove", "http://a/b"]).question == .remove(url: "http://a/b"))
    }

    @Test(arguments: [[], ["remove"], ["remove", "a", "b"], ["list", "a"], ["forget"]])
    func anythingElseOfABlacklistIsAUsageError(arguments: [String]) {
        #expect(throws: UsageError.self) { try failureCache(arguments) }
    }

    @Test func theHealthOfOneKindIsAskedForByItsNameAlsoInTheEnvironment() throws {
        #expect(try HealthOptions.read([]).only == nil)
        #expect(try HealthOptions.read(["--only", "decode"]).only == .decode)
        let environment = ["HOME": "/home/a", "IMAGEBUS_ONLY": "coordinator"]
        #expect(try HealthOptions.read([], environment).only == .coordinator)
        #expect(throws: UsageError.self) { try HealthOptions.read(["--only", "origin"]) }
        #expect(throws: UsageError.self) { try HealthOptions.read(["decode"]) }
    }

    @Test func oneKindIsDrained() throws {
        #expect(try drain(["cache"]).question == DrainTarget(.cache))
        let raw = DrainTarget(.decode, pool: PoolName("raw"))
        #expect(try drain(["decode/raw"]).question == raw)
        #expect(try drain(["coordinator", "--json"]).printsJSON)
        let pools = [["raw"], ["decode/"], ["decode/Raw"], ["coordinator/coordinator"]]
        for arguments in [[], ["origin"], ["cache", "decode"]] + pools {
            #expect(throws: UsageError.self) { try drain(arguments) }
        }
    }

    @Test func aTokenOrAGroupIsCancelled() throws {
        let identifier = try #require(Identifier128(hex: hex))
        #expect(try cancel([hex]) == .token(Token(identifier)))
        #expect(try cancel(["--group", hex]) == .group(GroupID(identifier)))
    }

    @Test(arguments: [[], ["xyz"], ["--group", "1"], ["a", "b"]])
    func anythingElseIsNotCancelled(arguments: [String]) {
        #expect(throws: UsageError.self) { try cancel(arguments) }
        #expect(throws: UsageError.self) {
            try cancel(arguments + ["--group", hex, hex])
        }
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
