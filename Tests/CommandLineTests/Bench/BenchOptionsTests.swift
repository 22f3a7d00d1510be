import ImageModel
import Testing

@testable import imagebus_cli

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
        #expect(options.stack.cacheDirectory == nil, "what is measured is not kept")
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
        [], ["hit"], ["storms"], ["cancel", "http://a", "http://b"], ["cancel", "--seconds", "0"],
        ["cancel", "--concurrency", "65"], ["cancel", "--resize", "9x9"],
        ["cancel", "--private", "--endpoint", "ipc:///a/front/front.sock"],
    ])
    func whatMakesNoSenseIsRefused(arguments: [String]) {
        #expect(throws: UsageError.self) { try options(arguments) }
    }

    @Test(arguments: [
        ("http://a/{n}.jpg", "http://a/7.jpg"), ("http://a/b.jpg", "http://a/b.jpg?7"),
        ("http://a/b?c=d", "http://a/b?c=d&7"),
    ])
    func everyLoadIsAnotherPicture(url: String, numbered: String) {
        #expect(CancelBench.numbered(url, 7) == numbered)
    }
}
