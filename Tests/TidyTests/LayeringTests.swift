import TestKit
import Testing

/// Dependencies go down. That files import only what their module depends on is checked by the
/// package manager (`scripts/swift-debug`).
@Suite struct LayeringTests {
    /// The layers that each layer may use, by folder of `Sources`.
    private static let allowed: [String: Set<String>] = [
        "System": [], "Codecs": ["Codecs"],
        "Core": ["Core"],
        "Runtime": ["Runtime", "Core", "System", "Codecs"],
        "Stages": ["Core", "System", "Codecs"],
        "Kit": ["Runtime", "Core", "System"],
        "Client": ["Client", "Runtime", "Core", "System", "Codecs"],
        "Fronts": ["Fronts", "Client", "Runtime", "Core", "System", "Codecs"],
        "Programs": ["Fronts", "Client", "Stages", "Runtime", "Core", "System", "Codecs"],
    ]
    /// What a module or layer may use of a layer, where that is less or more than the rule above.
    private static let exceptions: [String: [String: Set<String>]] = [
        "Model": ["Core": []], "Codecs": ["Codecs": ["CodecSupport"]],
        "Client": ["Runtime": ["Wire", "ProcessRuntime"]],
        "Kit": ["Runtime": ["Wire", "ProcessRuntime"], "System": ["Linux", "Sodium"]],
        "Reporting": [
            "Fronts": [], "Client": [], "Runtime": ["ProcessRuntime"], "System": ["JSON"],
            "Codecs": [],
        ],
        // The same stage as in the stack, so that the results are identical.
        "ImagebusTransforms": ["Stages": ["Transforming"]],
        // The benchmark is an ordinary client.
        "imagebus-bench": ["Runtime": [], "Stages": [], "System": ["Linux", "MicroHTTPD"]],
    ]

    @Test func theFoldersOfSourcesAreTheModulesOfTheManifest() throws {
        let modules = try Manifest().sources.map(\.path)
        for path in RepositoryFiles.paths(below: "Sources") where path.hasSuffix(".swift") {
            #expect(modules.contains { path.hasPrefix($0 + "/") }, "\(path) is in no module")
        }
        #expect(modules.allSatisfy(RepositoryFiles.exists))
    }

    @Test func dependenciesOfTheManifestGoDown() throws {
        let manifest = try Manifest()
        for module in manifest.sources where !module.isC {
            for name in module.dependencies {
                let other = try #require(manifest[name])
                #expect(Self.mayUse(module, other), "\(module.name) → \(name)")
            }
        }
    }

    @Test func anUpwardDependencyIsFound() {
        func module(_ path: String) -> Manifest.Module {
            let name = path.split(separator: "/").last.map(String.init) ?? ""
            return Manifest.Module(name: name, path: path, dependencies: [], isProgram: false)
        }
        for (from, to) in [
            ("Sources/Model", "Sources/Runtime/Wire"), ("Sources/Model", "Sources/System/JSON"),
            ("Sources/Stages/Caching", "Sources/Stages/Decoding"),
            ("Sources/Stages/Caching", "Sources/System/ZeroMQ"),
            ("Sources/Client/Imagebus", "Sources/Runtime/Supervision"),
            ("Sources/Client/Imagebus", "Sources/Stages/Transforming"),
            ("Sources/Programs/imagebus-bench", "Sources/Runtime/Wire"),
            ("Sources/Programs/imagebus-bench", "Sources/System/ZeroMQ"),
            ("Sources/Programs/imagebus-bench", "Sources/Stages/Decoding"),
            ("Sources/Fronts/Reporting", "Sources/System/SQLite"),
            ("Sources/Runtime/Sandbox", "Sources/System/CLinux"),
        ] {
            #expect(!Self.mayUse(module(from), module(to)), "\(from) → \(to)")
        }
    }

    private static func mayUse(_ module: Manifest.Module, _ other: Manifest.Module) -> Bool {
        if other.isC { return isBinding(module, of: other) }
        if module.layer == "Stages", other.name == "ZeroMQ" { return false }
        let exception =
            exceptions[module.name]?[other.layer] ?? exceptions[module.layer]?[other.layer]
        return exception?.contains(other.name)
            ?? (allowed[module.layer]?.contains(other.layer) == true)
    }

    /// A library has one binding, beside its C module; the messages belong to `Wire`.
    private static func isBinding(_ module: Manifest.Module, of c: Manifest.Module) -> Bool {
        if c.name == "CMessages" { return module.name == "Wire" }
        return module.layer == c.layer
    }

    @Test func aLibraryHasOneBinding() throws {
        let manifest = try Manifest()
        let bindings = manifest.sources.filter { !$0.isC }
        for c in manifest.sources where c.isC {
            let users = bindings.filter { $0.dependencies.contains(c.name) }.map(\.name)
            #expect(users.count <= 1, "\(c.name) is used by \(users)")
        }
    }

    /// Data and the coordinator's decisions involve no C, I/O, clocks and threads. Foundation adds
    /// megabytes to every program that links it.
    @Test func decisionsImportNoLibraryAndOneModuleFoundation() throws {
        let manifest = try Manifest()
        let decisions = ["Requests", "WorkGraph", "Dispatcher"].map {
            "Sources/Runtime/Coordinator/\($0)/"
        }
        #expect(decisions.allSatisfy(RepositoryFiles.exists))
        for module in manifest.sources where !module.isC {
            for path in RepositoryFiles.paths(below: module.path) where path.hasSuffix(".swift") {
                for name in RepositoryFiles.lines(of: path).compactMap(Self.imported) {
                    let isDecision = decisions.contains { path.hasPrefix($0) }
                    #expect(!isDecision || name == "Model", "\(path) imports \(name)")
                    let isOurs = manifest[name] != nil || name == "Synchronization"
                    #expect(isOurs || module.layer != "Core", "\(path) imports \(name)")
                    let mayUse = path.hasPrefix("Sources/Client/ImagebusFoundation/")
                    #expect(!name.hasPrefix("Foundation") || mayUse, "\(path) imports \(name)")
                }
            }
        }
    }

    /// The module that a line imports.
    private static func imported(_ line: String) -> String? {
        guard let first = line.utf8.first, "@fip".utf8.contains(first) else { return nil }
        let form = /(?:@\w+ )?(?:\w+ )?import (?:(?:struct|enum|class|func) )?(\w+)/
        return line.prefixMatch(of: form).map { String($0.output.1) }
    }

    /// The picture is written by `scripts/draw-modules`; it omits bindings.
    @Test func thePictureShowsTheModulesAndTheirDependencies() throws {
        let manifest = try Manifest()
        let drawn = manifest.sources.filter { !["System", "Codecs"].contains($0.layer) }
        let titles = RepositoryFiles.lines(of: "Sources/modules.svg").compactMap { line in
            line.wholeMatch(of: /<title>(.+)<\/title>/).map {
                String($0.output.1).replacing("&#45;", with: "-").replacing("&gt;", with: ">")
            }
        }
        #expect(Set(drawn.map(\.name)).isSubset(of: titles), "run scripts/draw-modules")
        let arrows = titles.map { $0.split(separator: "->").map(String.init) }
            .filter { $0.count == 2 }
        #expect(arrows.count >= drawn.count - 1)
        for arrow in arrows {
            let isThere = manifest[arrow[0]]?.dependencies.contains(arrow[1]) == true
            #expect(isThere, "\(arrow): run scripts/draw-modules")
        }
    }
}
