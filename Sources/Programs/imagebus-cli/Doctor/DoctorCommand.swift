import CommandLineInterface
import Glibc
import Linux
import Reporting
import StackAccess

/// `imagebus doctor`: what this machine and its stack lack, and what to type.
enum DoctorCommand {
    static func run(_ options: DoctorOptions) -> Int32 {
        let report = DoctorReport(findings: findings(options))
        if options.stack.printsJSON {
            // Texts are always JSON.
            let text = (try? JSONText.text(report)) ?? ""
            return Terminal.finish("doctor", text, status: report.exitStatus)
        }
        guard isatty(1) == 1, options.hasColours else {
            return Terminal.finish(
                "doctor", report.text(coloured: false), status: report.exitStatus)
        }
        Terminal.control(1, report.text(coloured: true, columns: TerminalScreen.current?.columns))
        return report.exitStatus
    }

    private static func findings(_ options: DoctorOptions) -> [DoctorFinding] {
        var facts = MachineFacts(
            runtime: options.stack.runtimeDirectory.path, cache: options.cacheDirectory)
        // Of a directory on a disk the segments lie in /dev/shm.
        if facts.runtime.isWritable, !facts.runtime.isTemporary {
            let path = facts.runtime.path
            facts.runtime = PlaceFacts("/dev/shm")
            facts.runtime.path = path
        }
        return MachineFindings(facts: facts).all + programs(options) + StackFindings.all(options)
    }

    private static func programs(_ options: DoctorOptions) -> [DoctorFinding] {
        if let named = options.programs { return ProgramFindings.all(in: named) }
        guard let path = try? ProgramNeighbour.path(""), let end = path.lastIndex(of: "/") else {
            return []
        }
        return ProgramFindings.all(in: String(path[..<end]))
    }
}
