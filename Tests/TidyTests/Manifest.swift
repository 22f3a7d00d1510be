import TestKit
import Testing

/// The targets of `Package.swift`, as the package manager describes them.
struct Manifest {
    struct Module: Sendable {
        let name: String
        /// Relative to the root, such as `Sources/Stages/Decoding`.
        let path: String
        let dependencies: [String]
        let isProgram: Bool

        /// The folder of `Sources` that contains it; modules directly in `Sources` are the core.
        var layer: String {
            let parts = path.split(separator: "/")
            return parts.count == 2 ? "Core" : String(parts[1])
        }

        /// Whether it is the module map or the shims of a library, such as `CZMQ`.
        var isC: Bool { name.prefix(2).allSatisfy(\.isUppercase) && name.first == "C" }
    }

    let modules: [Module]
    /// The names of the programs that a build makes.
    let programs: Set<String>

    /// The modules of `Sources`.
    var sources: [Module] { modules.filter { $0.path.hasPrefix("Sources/") } }

    subscript(name: String) -> Module? { modules.first { $0.name == name } }

    /// `parts` is `IMAGEBUS_PARTS` of `scripts/build`.
    init(parts: String = "all") throws {
        let scratch = TemporaryDirectory()
        let output = try Tool.run([
            "env", "IMAGEBUS_PARTS=\(parts)", "swift", "package", "--package-path",
            RepositoryRoot.path, "--scratch-path", scratch.path, "dump-package",
        ])
        let start = try #require(output.firstIndex(of: UInt8(ascii: "{")))
        let package = try JSONValue(parsing: Array(output[start...]))
        modules = try #require(package["targets"]?.array).map(Self.module)
        let made = modules.filter(\.isProgram).map(\.name)
        let named = (package["products"]?.array ?? []).filter { $0["type"]?["executable"] != nil }
        let hidden = named.flatMap { $0["targets"]?.array ?? [] }.compactMap(\.text)
        programs = Set(made).subtracting(hidden).union(named.compactMap { $0["name"]?.text })
    }

    private static func module(_ target: JSONValue) throws -> Module {
        let name = try #require(target["name"]?.text)
        let dependencies = (target["dependencies"]?.array ?? []).compactMap { dependency in
            dependency["byName"]?.array?.first?.text ?? dependency["target"]?.array?.first?.text
        }
        return Module(
            name: name, path: target["path"]?.text ?? "Tests/\(name)", dependencies: dependencies,
            isProgram: target["type"]?.text == "executable")
    }
}
