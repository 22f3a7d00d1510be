import Model
import TestKit
import Testing

@testable import WebGrammar

/// The migration pages cover everything that the parsers accept, and match their behavior.
@Suite struct MigrationTests {
    private func names(_ rows: [MigrationPage.Row], absent: Bool) -> Set<String> {
        Set(rows.filter { $0.isAbsent == absent }.flatMap(\.names))
    }

    @Test func imgproxysPageHasEachOption() {
        let rows = MigrationPage("imgproxy").rows(below: "Options of URLs")
        #expect(names(rows, absent: false) == Set(ImgproxyOption.all.flatMap(\.names)))
        let absent = WebDocument.names(of: 2, behind: "Not supported")
            .subtracting(["enc/", "-/"])
        #expect(names(rows, absent: true).isSuperset(of: absent))
        #expect(ImgproxyOption.absent.isSuperset(of: names(rows, absent: true)))
    }

    @Test func thumborsPageHasEachPartAndFilter() {
        let page = MigrationPage("thumbor")
        let filters = page.rows(below: "Filters")
        #expect(names(filters, absent: false) == Set(ThumborFilter.all.flatMap(\.names)))
        #expect(names(filters, absent: true) == ThumborFilter.absent)
        let parts = WebDocument.rows(of: 3, headed: "part").flatMap(\.names)
        let named = names(page.rows(below: "Parts of URLs"), absent: false)
        #expect(named.isSuperset(of: Set(parts).subtracting(["filters"])))
    }

    @Test func weservsPageHasEachParameter() {
        let rows = MigrationPage("weserv").rows(below: "Parameters")
        #expect(names(rows, absent: false) == Set(WeservOption.all.flatMap(\.names)))
        #expect(names(rows, absent: true) == WeservOption.absent)
    }

    @Test(
        arguments: MigrationPage("imagor").rows(below: "Parts of URLs")
            + MigrationPage("imagor").rows(below: "Filters"))
    func imagorsURLsAreReadAsItsPageSays(row: MigrationPage.Row) throws {
        var settings = ThumborGrammar.Settings(.imagor)
        settings.permitsUnsigned = true
        let grammar = try ThumborGrammar(settings)
        let target = "/unsafe/\(try #require(row.example))/https://h/a.jpg"
        guard row.isAbsent else {
            #expect(throws: Never.self) { try grammar.read(target) }
            return
        }
        #expect(try grammar.refusal(target).status == 501)
    }

    @Test func imagorsPageHasEachFilter() {
        let filters = MigrationPage("imagor").rows(below: "Filters")
        let supported = ThumborFilter.all.flatMap(\.names) + ImagorFilter.all.flatMap(\.names)
        #expect(names(filters, absent: false) == Set(supported))
        #expect(names(filters, absent: true).isSuperset(of: ImagorFilter.absent))
    }

    @Test(arguments: ["imgproxy", "thumbor", "imagor", "weserv"])
    func thePagesNameFlagsThatThereAre(name: String) {
        let page = MigrationPage(name)
        #expect(page.rows(below: "Configuration").count > 10)
        #expect(page.flags.count > 5)
        let programs =
            WebSources.text(below: "Sources/Programs")
            + WebSources.text(below: "Sources/Model")
            + WebSources.text(below: "Sources/Runtime/Coordinator")
            + WebSources.text(below: "Sources/Fronts")
        for flag in page.flags {
            let isThere = [flag, flag.replacing("gateway-", with: "")].contains {
                programs.contains("\"\($0)\"") || programs.contains("case \($0)\n")
            }
            #expect(isThere, "--\(flag)")
        }
    }
}
