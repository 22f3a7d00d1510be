import CommandLineInterface
import Messages
import Testing

@testable import imagebus_cli

@Suite struct StatusOptionsTests {
    private let environment = ["HOME": "/home/a", "XDG_RUNTIME_DIR": "/run/a"]

    private func options(_ arguments: String...) throws(UsageError) -> StatusOptions {
        let read = try OptionReader.read(
            arguments, Command.status.definitions, environment: environment)
        return try StatusOptions(read, environment: environment)
    }

    @Test func theFormIsATableUnlessSomethingElseIsWanted() throws {
        #expect(try options().format == .table)
        #expect(try options("--json").format == .json)
        #expect(try options("--prometheus").format == .prometheus)
        #expect(try options("--prometheus", "-o", "/tmp/a.prom").output == "/tmp/a.prom")
        #expect(try options("--watch", "--json").watches)
        #expect(throws: UsageError.self) { try options("--json", "--prometheus") }
        #expect(throws: UsageError.self) { try options("--watch", "--prometheus") }
        #expect(throws: UsageError.self) { try options("--watch", "-o", "x") }
    }

    @Test func ratesAreOfWhatHappenedSinceTheLastLook() {
        func report(_ uptime: UInt64, _ requests: UInt64, _ hits: UInt64) -> StatusReport {
            var report = StatusReport()
            report.uptimeMilliseconds = uptime
            report.counters = [
                .init(name: "requests", value: requests), .init(name: "memoryHits", value: hits),
                .init(name: "misses", value: requests - hits),
            ]
            return report
        }
        let (before, after) = (report(1_000, 100, 0), report(3_000, 140, 30))
        let text = StatusTable.summary(after, since: before)
        #expect(text.contains("20.0 requests/s"))
        #expect(text.contains("memory          30  21.4 %  75.0 %"))
        #expect(!StatusTable.summary(after, since: nil).contains("requests/s"))
        let reborn = StatusTable.summary(report(500, 4, 4), since: before)
        #expect(!reborn.contains("requests/s"), "the coordinator began anew")
        #expect(reborn.contains("memory           4  100.0 %  100.0 %"))
    }

    @Test func durationsHaveTheUnitThatFits() {
        #expect(
            [0.6, 999, 1_024, 99_949, 99_960, 999_499, 1_500_000].map(StatusTable.time) == [
                "1 us", "999 us", "1.0 ms", "99.9 ms", "100 ms", "999 ms", "1.5 s",
            ])
    }

    @Test func inPlaceEveryLineReplacesTheOneBefore() {
        #expect(StatusWatch.inPlace("a\nb\n") == "\u{1B}[Ha\u{1B}[K\nb\u{1B}[K\n\u{1B}[J")
    }
}
