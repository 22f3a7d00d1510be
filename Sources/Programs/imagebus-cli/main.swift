import Glibc
import Linux

exit(
    CommandLineTool.run(
        Array(CommandLine.arguments.dropFirst()), environment: CurrentProcess.environment))
