import CommandLineInterface
import Linux

StandardDescriptors.reserve()
let environment = CurrentProcess.environment
CurrentProcess.end(
    Command.bench.run(CurrentProcess.arguments, environment: environment) { read in
        try BenchTool.run(BenchOptions(read, environment: environment))
    })
