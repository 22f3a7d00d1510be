import TestKit
import Testing

/// The documentation catalog mentions only existing symbols.
@Suite struct CatalogTests {
    private static let folder = "Sources/Client/Imagebus/Imagebus.docc"

    private func text(_ name: String) -> String {
        FileBytes.text(RepositoryRoot.file("\(Self.folder)/\(name)")) ?? ""
    }

    /// The symbols between double backticks.
    private func symbols(_ text: String) -> [String] {
        text.matches(of: /``([A-Za-z\/]+)``/).map { String($0.output.1) }
    }

    /// Types are declared in the library or exported by it; members are declared.
    @Test(arguments: ["Imagebus.md", "Tutorial.md"])
    func everySymbolIsThere(document: String) throws {
        let symbols = symbols(text(document))
        #expect(!symbols.isEmpty)
        let declared = try Tool.run([
            "grep", "-rhoE",
            "public (final |import |internal\\(set\\) |static )*"
                + "(class|struct|enum|protocol|var|let|func) [A-Za-z.]+",
            "--include=*.swift", RepositoryRoot.file("Sources/Client/Imagebus"),
        ])
        let names = String(decoding: declared, as: UTF8.self).split { " .\n".contains($0) }
        let known = Set(names.map(String.init))
        for symbol in symbols where symbol != "Imagebus" {
            let parts = symbol.split(separator: "/").map(String.init)
            #expect(parts.allSatisfy(known.contains), "\(document): \(symbol)")
        }
    }

    /// `ImagebusClient` and the types that its calls return.
    @Test func theTypesThatAProgramBeginsWithAreInTheCatalog() {
        let symbols = Set(symbols(text("Imagebus.md")))
        let wanted: Set = [
            "ImagebusClient", "ClientConfiguration", "ImageRequest", "LoadTask", "ImageResponse",
            "ImageBytes", "ImageError", "ImageSlot", "PrefetchTask", "AnimatedImage",
            "AnimationPlayer", "ClientMemoryCache", "CallbackExecutor", "OperatorClient",
        ]
        #expect(wanted.subtracting(symbols) == [])
    }
}
