import ImageModel
import Linux
import Messages
import Supervision

/// What the programs of a stack say of themselves and of their libraries.
enum ProgramFindings {
    /// Lines of `imagebus-decode --abilities`, by their first word.
    struct Abilities: Hashable {
        var reads: [String] = []
        var writes: [String] = []
        var lacks: [String] = []
        var libraries: [String] = []

        init(_ text: String) {
            for line in text.split(separator: "\n") {
                let rest = String(line.drop { $0 != " " }.dropFirst())
                switch line.prefix(while: { $0 != " " }) {
                case "reads": reads.append(rest)
                case "writes": writes.append(rest)
                case "lacks": lacks.append(rest)
                case "library": libraries.append(rest)
                default: break
                }
            }
        }
    }

    /// All of them; `directory` is where the programs lie.
    static func all(in directory: String) -> [DoctorFinding] {
        let kinds = WorkerKind.allCases.map { ProcessKind.stack($0) } + [.gateway]
        let names = kinds.map(ChildSpecification.programName)
        let lost = names.filter { !isExecutable("\(directory)/\($0)") }
        guard lost.isEmpty else {
            return [
                .missing(
                    "programs", "\(directory) has no \(lost.joined(separator: ", no "))",
                    mend: "scripts/build, or IMAGEBUS_PROGRAMS=DIRECTORY of them")
            ]
        }
        let found = DoctorFinding.ok("programs", "\(directory) has all \(names.count)")
        return [found]
            + WorkerKind.workers.map { kind in
                let name = ChildSpecification.programName(.stack(kind))
                return finding(name, ProgramAnswer.text("\(directory)/\(name)", ["--abilities"]))
            }
    }

    /// What one of them said; nil: nothing that makes sense.
    static func finding(_ name: String, _ text: String?) -> DoctorFinding {
        guard let text else {
            return .missing(
                name, "it does not start: a library is missing or too old",
                mend: "ldd \(name); scripts/setup installs what is built with")
        }
        let abilities = Abilities(text)
        let formats =
            (abilities.reads.isEmpty ? [] : ["reads \(abilities.reads.joined(separator: ", "))"])
            + (abilities.writes.isEmpty
                ? [] : ["writes \(abilities.writes.joined(separator: ", "))"])
        let libraries = abilities.libraries.joined(separator: ", ")
        let says = (formats + [libraries]).filter { !$0.isEmpty }.joined(separator: "; ")
        guard let first = abilities.lacks.first else {
            return .ok(name, says.isEmpty ? "it starts" : says)
        }
        return .short(
            name, "\(says); \(abilities.lacks.joined(separator: "; "))",
            mend: first.contains("libvips") || first.contains("heif")
                ? "apt-get install libvips42 libheif1" : "scripts/setup, for all libraries")
    }

    private static func isExecutable(_ path: String) -> Bool {
        ((try? FileDescriptor.status(path: path))?.mode ?? 0) & 0o111 != 0
    }
}
