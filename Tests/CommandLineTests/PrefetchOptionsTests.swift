import CommandLineInterface
import Imagebus
import Model
import Testing

@testable import imagebus_cli

@Suite struct PrefetchOptionsTests: OptionTests {
    typealias Options = PrefetchOptions

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
        let list = URLList(file: "urls.txt", Array(text.utf8))
        #expect(list.lines.map(\.url) == ["http://a/1", "http://a/2", "http://a/3"])
        #expect(list.lines.map(\.number) == [1, 4, 6], "comments and empty lines count")
        #expect(URLList(file: "urls.txt", []).lines == [])
    }

    @Test func aLineThatIsNoURLIsNamedByItsNumberAndNothingSecretIsShown() {
        let text = "http://a/1\n\nhtp//u:secret@a/2\nhttp://a/3?secret\n"
        let list = URLList(file: "urls.txt", Array(text.utf8))
        let gone = ImageError(
            .invalidDownloadStatusCode, "gone", details: ["httpStatus": "404"])
        let lineErrors = PrefetchLineError.all(
            list,
            [
                PrefetchFailure(url: "http://a/3?secret", error: gone),
                PrefetchFailure(
                    url: "htp//u:secret@a/2", error: ImageError(.invalidURL, "said again")),
                PrefetchFailure(url: "http://b/", error: gone),
            ])
        let lines = PrefetchTool.lines(lineErrors, of: 5)
        #expect(lines.count == 4, "\(lines)")
        #expect(lines[0].hasPrefix("urls.txt:3: '…@a/2': invalidURL (1000): "))
        #expect(lines[1].hasPrefix("urls.txt:4: http://a/3: invalidDownloadStatusCode (2001): "))
        #expect(lines[1].hasSuffix(" (httpStatus=404)"))
        #expect(lines[2].hasPrefix("http://b/: "))
        #expect(lines[3] == "and 2 more failed; use a shorter list")
        #expect(lines.allSatisfy { !$0.contains("secret") })
        let advice = PrefetchLineError.advice(lineErrors)
        #expect(advice.count == 2 && advice.last?.contains("curl -sI URL") == true, "\(advice)")
        #expect(
            PrefetchLineError.all(URLList(file: "-", Array("x".utf8)), []).first?.place
                == "standard input:1")
    }

    @Test func theLastLineSaysHowManyEndedHow() {
        var counts = PrefetchCounts(total: 12, finished: 10, skipped: 4)
        var ends = PrefetchEnds(
            cached: 2, errors: [.init(.timedOut, 1), .init(.invalidDownloadStatusCode, 3)])
        #expect(
            PrefetchSummary(counts: counts, ends: ends).text
                == "loaded 4, already cached 2, failed 4 (3 invalidDownloadStatusCode, "
                + "1 timedOut)\n")
        counts.cancelled = 2
        counts.skipped = 0
        ends = PrefetchEnds(cached: 9, missed: 1)
        #expect(
            PrefetchSummary(counts: counts, ends: ends).text
                == "loaded 0, already cached 9, not cached 1, failed 0, cancelled 2\n")
    }
}
