import CommandLineInterface
import ImageModel
import Linux
import StackAccess

/// A program that is installed beside this one and does a command: this one links none of the
/// libraries that it needs.
struct NeighbourProgram: Sendable {
    /// What it is called.
    let name: String
    /// The command that it does.
    let command: String

    /// Becomes that program, with these arguments; returns the exit status where there is none.
    func run(_ arguments: [String]) -> Int32 {
        do throws(Errno) {
            let path = try ProgramNeighbour.path(name)
            let error = CurrentProcess.become(path, arguments)
            return refuse("\(path) cannot be started (\(error))")
        } catch {
            return refuse("its program cannot be looked for (\(error))")
        }
    }

    private func refuse(_ reason: String) -> Int32 {
        let error = ImageError(
            .unavailable,
            "\(reason): this command is a program of its own; install \(name) beside imagebus")
        Terminal.complain(command, error)
        return error.exitStatus
    }
}

extension NeighbourProgram {
    /// It reads its options and prints its help itself.
    static let bench = NeighbourProgram(name: "imagebus-bench", command: Command.bench.name)

    /// It has the grammars of URLs; its options are read here.
    static let gateway = NeighbourProgram(name: "imagebus-gateway", command: Command.url.name)
}
