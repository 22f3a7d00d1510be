import Linux
import Model
import Supervision

/// The programs of a stack, and what those of its workers can do on this machine.
struct StackPrograms {
    private let directory: String
    /// The names of programs that are missing or not executable.
    private let missing: [String]
    /// Empty if a program is missing; without the programs that don't start.
    private let abilities: [WorkerKind: ProgramAbilities]
    private let packages: [String: String]

    init(in directory: String) {
        let kinds = WorkerKind.allCases.map { ProcessKind.stack($0) } + [.gateway]
        let missing = kinds.map(ChildSpecification.programName).filter {
            ((try? FileDescriptor.status(path: "\(directory)/\($0)"))?.mode ?? 0) & 0o111 == 0
        }
        var abilities: [WorkerKind: ProgramAbilities] = [:]
        for kind in missing.isEmpty ? WorkerKind.workers : [] {
            let path = "\(directory)/\(Self.name(of: kind))"
            abilities[kind] = ProgramAnswer.text(path, ["--abilities"]).map(ProgramAbilities.init)
        }
        (self.directory, self.missing, self.abilities) = (directory, missing, abilities)
        packages = LibraryPackages.versions(of: Set(abilities.values.flatMap(\.libraries)))
    }

    static func name(of kind: WorkerKind) -> String { ChildSpecification.programName(.stack(kind)) }

    var presence: DoctorResult {
        guard missing.isEmpty else {
            return .missing(
                "\(directory) lacks \(missing.joined(separator: ", "))",
                hint: "run scripts/build, or set IMAGEBUS_PROGRAMS to their directory")
        }
        return .ok("\(directory) has all \(WorkerKind.allCases.count + 1) programs")
    }

    func result(of kind: WorkerKind) -> DoctorResult? {
        guard missing.isEmpty else { return nil }
        guard let abilities = abilities[kind] else {
            return .missing(
                "does not start: a library is missing or too old",
                hint: "ldd \(Self.name(of: kind)); scripts/setup installs the required libraries")
        }
        return abilities.result(packages)
    }
}

/// The output of a worker's program for `--abilities`, parsed by the first word of each line.
struct ProgramAbilities: Hashable {
    private let lines: [Substring: [String]]

    init(_ text: String) {
        lines = Dictionary(grouping: text.split(separator: "\n")) { $0.prefix { $0 != " " } }
            .mapValues { $0.map { line in String(line.drop { $0 != " " }.dropFirst()) } }
    }

    /// Such as `vips 42.16.1`.
    var libraries: [String] { lines["library"] ?? [] }

    /// Libraries in `packages` are named as there.
    func result(_ packages: [String: String]) -> DoctorResult {
        var packed: [String] = []
        for library in libraries.map({ packages[$0] ?? $0 }) where !packed.contains(library) {
            packed.append(library)
        }
        let formats = ["reads", "writes"].compactMap { word in
            lines[word[...]].map { "\(word) \($0.joined(separator: ", "))" }
        }
        let says = (formats + [packed.joined(separator: ", ")]).filter { !$0.isEmpty }
            .joined(separator: "; ")
        guard let missing = lines["lacks"] else { return .ok(says.isEmpty ? "starts" : says) }
        return .short(
            "\(says); \(missing.joined(separator: "; "))",
            hint: "apt-get install libvips42 libheif1; scripts/setup installs all libraries")
    }
}

/// The Debian packages that installed the libraries.
enum LibraryPackages {
    private static let program = "/usr/bin/dpkg-query"

    /// Returns the package of each library and its version, such as `libvips42 8.14.1-3`, by the
    /// library and version in its file name, such as `vips 42.16.1`; without libraries that no
    /// package installed.
    static func versions(of libraries: Set<String>) -> [String: String] {
        guard !libraries.isEmpty else { return [:] }
        let patterns = libraries.sorted().map { "*/\(file(of: $0))" }
        // The status is 1 if no package has some of the files.
        guard let owners = ProgramAnswer.text(program, ["--search"] + patterns, statusMax: 1) else {
            return [:]
        }
        let owned = packages(of: owners)
        let format = "--showformat=${Package} ${Version}\\n"
        let names = Set(owned.values).sorted()
        guard !names.isEmpty,
            let rows = ProgramAnswer.text(program, ["--show", format] + names)
        else { return [:] }
        let versions = Dictionary(
            rows.split(separator: "\n").map { row in (row.prefix { $0 != " " }, String(row)) },
            uniquingKeysWith: { first, _ in first })
        let found = libraries.map { library in
            (library, owned[file(of: library)].flatMap { versions[$0[...]] })
        }
        return Dictionary(uniqueKeysWithValues: found).compactMapValues { $0 }
    }

    /// Returns the packages by file name, from lines such as `libvips42:amd64: /usr/lib/libvips…`.
    static func packages(of owners: String) -> [String: String] {
        Dictionary(
            owners.split(separator: "\n").compactMap { line in
                guard let place = line.firstRange(of: ": "),
                    let file = line.split(separator: "/").last
                else { return nil }
                return (String(file), String(line[..<place.lowerBound].prefix { $0 != ":" }))
            }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns `libvips.so.42.16.1` for `vips 42.16.1`.
    private static func file(of library: String) -> String {
        "lib" + library.replacing(" ", with: ".so.")
    }
}

/// Runs a program that prints something and exits.
enum ProgramAnswer {
    private static let milliseconds = 30_000
    private static let bytesMax = 65_536

    /// Returns its standard output; `nil` if it can't be started, exits with a status beyond
    /// `statusMax` or times out. Standard error goes to /dev/null.
    static func text(
        _ path: String, _ arguments: [String], statusMax: Int32 = 0
    ) -> String? {
        do throws(Errno) {
            let pipe = try FileDescriptor.pipe()
            var command = ChildCommand(path, arguments)
            command.descriptors[1] = .descriptor(pipe.writeEnd.number)
            command.descriptors[2] = .null
            let child = try ChildProcess(command)
            try pipe.writeEnd.close()
            // The output fits in the pipe, so the program doesn't wait for its reader.
            guard let status = try child.wait(milliseconds: milliseconds) else {
                try child.send(.kill)
                _ = try child.wait(milliseconds: milliseconds)
                return nil
            }
            guard case .exited(let number) = status, number <= statusMax else { return nil }
            let bytes = try pipe.readEnd.readToEnd(bytesMax: bytesMax)
            return String(decoding: bytes, as: UTF8.self)
        } catch {
            return nil
        }
    }
}
