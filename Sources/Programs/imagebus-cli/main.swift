import CommandLineInterface
import Glibc
import Linux

StandardDescriptors.reserve()
exit(
    CommandLineTool.run(
        Array(CommandLine.arguments.dropFirst()), environment: CurrentProcess.environment))
