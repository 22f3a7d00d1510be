import CommandLineInterface
import Linux
import Model
import Testing

@testable import imagebus_bench

@Suite struct BenchOptionsTests {
    private func options(_ arguments: [String]) throws(UsageError) -> BenchOptions {
        let environment = ["HOME": "/home/a"]
        let read = try OptionReader.read(
            arguments, Command.bench.definitions, environment: environment)
        return try BenchOptions(read, environment: environment)
    }

    @Test func whatIsNotSaidHasADefault() throws {
        let options = try options(["cancel"])
        #expect(options.url == nil)
        #expect(options.seconds == 10)
        #expect(options.concurrency == 1)
        #expect(!options.printsJSON)
        #expect(options.stack.cacheDirectory == nil, "measured results aren't stored")
    }

    @Test func allThatCanBeSaidIsRead() throws {
        let options = try options([
            "cancel", "http://a/{n}.jpg", "--seconds", "3", "--concurrency=4", "--json",
            "--private",
        ])
        #expect(options.url == "http://a/{n}.jpg")
        #expect(options.seconds == 3)
        #expect(options.concurrency == 4)
        #expect(options.printsJSON && options.stack.isPrivate)
    }

    @Test(arguments: [
        [], ["storms"], ["cancel", "http://a", "http://b"], ["cancel", "--seconds", "0"],
        ["cancel", "--concurrency", "10001"], ["cancel", "--resize", "9x9"],
        ["cancel", "--option", "refresh-cached"], ["mixed", "--resize", "9x9"],
        ["cold", "--requests", "9"], ["mixed", "--requests", "0"], ["hit", "--resize", "9"],
        ["hit", "-o", "a"],
        ["cancel", "--private", "--endpoint", "ipc:///a/front/front.sock"],
    ])
    func whatMakesNoSenseIsRefused(arguments: [String]) {
        #expect(throws: UsageError.self) { try options(arguments) }
    }

    @Test func hitsTakeTheOptionsOfGet() throws {
        let plain = try options(["hit"])
        #expect(plain.url == nil && plain.concurrency == 64 && !plain.isRequestChosen)
        let options = try options([
            "hit", "http://a/b.jpg", "--resize", "9x9", "--format=webp", "--quality", "7",
            "--option", "from-cache-only", "--context", "store-cache-type=memory",
        ])
        #expect(options.isRequestChosen && options.url == "http://a/b.jpg")
        #expect(options.request.steps == [.resize(PixelSize(width: 9, height: 9), .fit)])
        #expect(options.request.output == OutputOptions(format: .webp, quality: 7))
        #expect(options.request.options == .fromCacheOnly)
        #expect(options.request.storeCacheTypes == .memory)
    }

    @Test func eachKindHasItsOwnDefaults() throws {
        #expect(try options(["storm"]).concurrency == 10_000)
        #expect(try options(["cold"]).concurrency == 4 * CurrentProcess.processorCount)
        #expect(try options(["cold"]).requestsMax == .max)
        #expect(try options(["mixed", "--requests", "9"]).requestsMax == 9)
        #expect(try options(["cold"]).stack.workers == CurrentProcess.processorCount)
        #expect(try options(["cancel"]).stack.workers == 1)
    }

    @Test func urgencyIsNoChoiceOfImage() throws {
        #expect(try !options(["cancel", "--priority", "high", "--timeout", "1s"]).isRequestChosen)
    }

    @Test(arguments: [
        ("http://a/{n}.jpg", "http://a/7.jpg"), ("http://a/b.jpg", "http://a/b.jpg?7"),
        ("http://a/b?c=d", "http://a/b?c=d&7"),
    ])
    func everyLoadIsAnotherImage(url: String, numbered: String) {
        #expect(BenchURL.numbered(url, 7) == numbered)
        #expect((BenchURL.counted(url, 7) == numbered) == url.contains(BenchURL.place))
    }
}
