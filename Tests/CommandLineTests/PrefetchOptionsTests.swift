import CommandLineInterface
import ImageModel
import Testing

@testable import imagebus_cli

@Suite struct PrefetchOptionsTests {
    private func options(_ arguments: [String]) throws(UsageError) -> PrefetchOptions {
        let environment = ["HOME": "/home/a"]
        let read = try OptionReader.read(
            arguments, Command.prefetch.definitions, environment: environment)
        return try PrefetchOptions(read, environment: environment)
    }

    @Test func aListIsOfOperandsAndAFile() throws {
        let options = try options(["http://a/1", "http://a/2", "-f", "list", "--resize", "9x9"])
        #expect(options.urls == ["http://a/1", "http://a/2"])
        #expect(options.file == "list")
        #expect(options.template.steps == [.resize(PixelSize(width: 9, height: 9), .fit)])
        #expect(options.concurrency == 3)
        #expect(throws: UsageError.self) { try self.options([]) }
    }

    @Test(arguments: [
        ([], Priority.low), (["--priority", "low"], .low), (["--priority", "normal"], .normal),
        (["--priority", "high"], .high), (["--option", "high-priority"], .high),
    ])
    func theClassIsLowUnlessItIsSaid(arguments: [String], priority: Priority) throws {
        #expect(try options(["http://a/1"] + arguments).priority == priority)
    }

    @Test(arguments: ["0", "65", "x"]) func soManyAtATime(text: String) throws {
        #expect(try options(["http://a/1", "--concurrent", "64"]).concurrency == 64)
        #expect(throws: UsageError.self) {
            try options(["http://a/1", "--concurrent", text])
        }
    }

    @Test func aFileHasAURLOnEachLine() {
        let text = "http://a/1\r\n\n  # none\n\thttp://a/2 \n#x\nhttp://a/3"
        #expect(URLList.urls(Array(text.utf8)) == ["http://a/1", "http://a/2", "http://a/3"])
        #expect(URLList.urls([]) == [])
    }
}
