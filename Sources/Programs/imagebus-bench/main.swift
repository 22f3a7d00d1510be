import CommandLineInterface
import Linux

StandardDescriptors.reserve()
let environment = CurrentProcess.environment
CurrentProcess.end(
    Command.bench.run(CurrentProcess.arguments, environment: environment) {
        (read) throws(UsageError) in
        BenchTool.run(try BenchOptions(read, environment: environment))
    })
