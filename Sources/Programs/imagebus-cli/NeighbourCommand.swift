import CommandLineInterface
import ImageModel
import Linux
import StackAccess

/// A command that is a program of its own, installed beside this one: this one links none of the
/// libraries that it needs.
struct NeighbourCommand: Sendable {
    /// What it reads, and what is told of it here.
    let command: Command

    static let all = [NeighbourCommand(command: .bench)]

    var name: String { command.name }

    /// Becomes that program, with these arguments; returns the exit status where there is none.
    func run(_ arguments: [String]) -> Int32 {
        do throws(Errno) {
            let path = try ProgramNeighbour.path("imagebus-\(name)")
            let error = CurrentProcess.become(path, arguments)
            return refuse("\(path) cannot be started (\(error))")
        } catch {
            return refuse("its program cannot be looked for (\(error))")
        }
    }

    private func refuse(_ reason: String) -> Int32 {
        let error = ImageError(
            .unavailable,
            "\(reason): this command is a program of its own; install imagebus-\(name) beside "
                + "imagebus")
        Terminal.complain(name, error)
        return error.exitStatus
    }
}
