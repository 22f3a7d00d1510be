import CommandLineInterface
import ImageModel
import Linux
import StackAccess

/// `imagebus url`: done by the gateway's program, which has the grammars.
enum URLCommand {
    /// Becomes that program; returns the exit status where there is none.
    static func run(_ options: URLOptions) -> Int32 {
        NeighbourProgram(name: "imagebus-gateway", command: Command.url.name)
            .run(options.arguments)
    }
}
