import Testing

@Suite struct LayeringTests {
    private let files = RepositoryFiles()

    @Test func theFoldersOfSourcesAreTheModulesOfTheManifest() throws {
        let rooms = try manifest().rooms.map(\.path).sorted()
        let groups = files.folders(in: "Sources").map { "Sources/\($0)" }
        let folders = groups.flatMap { group -> [String] in
            if rooms.contains(group) { return [group] }
            return files.folders(in: group).map { "\(group)/\($0)" }
        }
        #expect(folders.sorted() == rooms)
    }

    @Test func dependenciesOfTheManifestGoDown() throws {
        for finding in LayeringRules.findings(in: try manifest()) { Issue.record("\(finding)") }
    }

    @Test func thePictureShowsTheModulesAndNoOtherArrows() throws {
        let manifest = try manifest()
        let picture = ModulePicture(text: try #require(files.text(of: "Sources/modules.svg")))
        let remedy: Comment = "scripts/draw-modules draws it again"
        let modules = manifest.rooms.filter { ModulePicture.layers.contains($0.layer) }
        #expect(picture.modules == Set(modules.map(\.name)), remedy)
        #expect(picture.arrows.count >= modules.count - 1, remedy)
        for arrow in picture.arrows {
            let isThere = manifest[arrow.from]?.dependencies.contains(arrow.to) == true
            #expect(isThere, "\(arrow): run scripts/draw-modules to update the picture")
        }
    }

    @Test func importsGoDownAndAreDeclared() throws {
        let manifest = try manifest()
        for room in manifest.rooms {
            for path in files.paths(below: room.path) where path.hasSuffix(".swift") {
                let source = SourceText(path: path, text: try #require(files.text(of: path)))
                for finding in LayeringRules.findings(in: source, of: room, manifest) {
                    Issue.record("\(finding)")
                }
            }
        }
    }

    @Test func everyBindingHasItsModulesInTheTable() throws {
        let bindings = try manifest().rooms.filter { $0.layer == .bindings }
        for binding in bindings {
            #expect(Arrows.modulesOfBinding[binding.name] == Set(binding.dependencies))
        }
        #expect(bindings.count == Arrows.modulesOfBinding.count)
    }

    // MARK: - Tests of the rules

    /// A manifest in our form, with one or two modules per layer.
    private let small = """
        let c: [Target] = [
            .systemLibrary(name: "CZMQ", path: "Sources/System/CZMQ"),
            .systemLibrary(
                name: "CVips", path: "Sources/Codecs/CVips", pkgConfig: "gobject-2.0"),
            .target(
                name: "CVipsShims", dependencies: ["CVips"], path: "Sources/Codecs/CVipsShims"),
            .target(name: "CMessages", path: "Sources/System/CMessages"),
        ]
        func module(_ folder: String, _ dependencies: [Target.Dependency]) -> Target {
            .target(name: folder, dependencies: dependencies, path: "Sources/(folder)")
        }
        let modules: [Target] = [
            module("System/ZeroMQ", ["CZMQ"]),
            module("Codecs/Vips", ["CVips", "CVipsShims"]),
            module("Model", []),
            module("Scheduling", ["Model"]),
            module("Runtime/Wire", ["CMessages", "Model"]),
            module(
                "Runtime/Supervision",
                [
                    "ZeroMQ", "Model",
                ]),
            module("Stages/Decoding", ["Vips", "Model"]),
            module("Client/Imagebus", ["ZeroMQ", "Wire", "Model"]),
            module("Client/ImagebusFoundation", ["Imagebus"]),
            module("Kit/ImagebusWorker", ["Model"]),
            module("Fronts/Reporting", ["Model"]),
            module("Fronts/CommandLineInterface", ["Imagebus", "Reporting", "Supervision"]),
        ]
        let worker: [Target.Dependency] = [
            "Wire", "Model",
        ]
        let programs: [Target] = [
            program("imagebus-decode", worker + ["Decoding"]),
            program("imagebus-coordinator", ["Supervision"]),
            program("imagebus-bench", ["Imagebus", "Model"]),
        ]
        """

    @Test func manifestIsReadAsText() {
        let manifest = Manifest(text: small)
        #expect(manifest.rooms.count == 19)
        #expect(manifest["CVipsShims"]?.dependencies == ["CVips"])
        #expect(manifest["CVipsShims"]?.path == "Sources/Codecs/CVipsShims")
        #expect(manifest["Vips"]?.path == "Sources/Codecs/Vips")
        #expect(manifest["Supervision"]?.dependencies == ["ZeroMQ", "Model"])
        #expect(manifest["imagebus-decode"]?.dependencies == ["Wire", "Model", "Decoding"])
        #expect(manifest["imagebus-coordinator"]?.dependencies == ["Supervision"])
        #expect(LayeringRules.findings(in: manifest) == [])
    }

    @Test(arguments: [
        ("\"Model\", []", "\"Model\", [\"Wire\"]"),
        ("\"Model\", []", "\"Model\", [\"Scheduling\"]"),
        ("\"Scheduling\", [\"Model\"]", "\"Scheduling\", [\"ZeroMQ\"]"),
        ("[\"Vips\", \"Model\"]", "[\"Vips\", \"Wire\"]"),
        ("[\"Vips\", \"Model\"]", "[\"Vips\", \"ZeroMQ\"]"),
        ("\"ZeroMQ\", \"Model\",", "\"ZeroMQ\", \"Decoding\","),
        ("\"ZeroMQ\", \"Model\",", "\"ZeroMQ\", \"CMessages\","),
        ("ZeroMQ\", [\"CZMQ\"]", "ZeroMQ\", [\"CZMQ\", \"CMessages\"]"),
        ("[\"ZeroMQ\", \"Wire\", \"Model\"]", "[\"Supervision\"]"),
        ("\"Reporting\", \"Supervision\"]", "\"Reporting\", \"Decoding\"]"),
        ("\"Reporting\", \"Supervision\"]", "\"CZMQ\", \"Supervision\"]"),
        ("Reporting\", [\"Model\"]", "Reporting\", [\"Imagebus\"]"),
        ("Reporting\", [\"Model\"]", "Reporting\", [\"CommandLineInterface\"]"),
        ("ImagebusWorker\", [\"Model\"]", "ImagebusWorker\", [\"Supervision\"]"),
        ("ImagebusWorker\", [\"Model\"]", "ImagebusWorker\", [\"Decoding\"]"),
        ("worker + [\"Decoding\"]", "worker + [\"ImagebusWorker\"]"),
        ("[\"Imagebus\", \"Model\"]", "[\"Imagebus\", \"Wire\"]"),
        ("[\"Imagebus\", \"Model\"]", "[\"Imagebus\", \"ZeroMQ\"]"),
        ("worker + [\"Decoding\"]", "worker + [\"CVips\"]"),
        ("worker + [\"Decoding\"]", "worker + [\"Unknown\"]"),
    ])
    func anUpwardArrowPlantedInTheManifestIsFound(allowed: String, planted: String) {
        #expect(small.contains(allowed))
        let manifest = Manifest(text: small.replacing(allowed, with: planted))
        #expect(LayeringRules.findings(in: manifest).count == 1)
    }

    @Test(arguments: [
        ("Model", "import Wire"),
        ("Model", "import Glibc"),
        ("Model", "import Scheduling"),
        ("Scheduling", "import CZMQ"),
        ("Scheduling", "import Scheduling"),
        ("Decoding", "import ZeroMQ"),
        ("Decoding", "public import Wire"),
        ("Supervision", "@preconcurrency import Decoding"),
        ("Supervision", "private import struct CMessages.Hello"),
        ("Supervision", "import Wire"),
        ("Supervision", "import Dispatch"),
        ("Imagebus", "import Supervision"),
        ("Imagebus", "import FoundationEssentials"),
        ("ImagebusFoundation", "import Foundation"),
        ("Model", "import FoundationEssentials"),
        ("imagebus-decode", "import CVips"),
    ])
    func aPlantedImportIsFound(room: String, code: String) throws {
        let manifest = Manifest(text: small)
        let source = SourceText(path: "Sources/A.swift", text: "// \(code)\n\(code)\n")
        let found = LayeringRules.findings(in: source, of: try #require(manifest[room]), manifest)
        #expect(found.map(\.line) == [2])
    }

    @Test(arguments: [
        ("Scheduling", "import Model"),
        ("Wire", "import CMessages"),
        ("Supervision", "public import ZeroMQ"),
        ("Supervision", "import Glibc"),
        ("Imagebus", "import Synchronization"),
        ("ImagebusFoundation", "public import FoundationEssentials"),
        ("imagebus-decode", "import Decoding"),
    ])
    func anImportThatGoesDownIsLeftAlone(room: String, code: String) throws {
        let manifest = Manifest(text: small)
        let source = SourceText(path: "Sources/A.swift", text: code)
        let room = try #require(manifest[room])
        #expect(LayeringRules.findings(in: source, of: room, manifest) == [])
    }

    private func manifest() throws -> Manifest {
        Manifest(text: try #require(files.text(of: "Package.swift")))
    }
}
