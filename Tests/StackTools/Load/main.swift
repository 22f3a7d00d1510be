import Linux

CurrentProcess.end(StackLoad.run(Array(CommandLine.arguments.dropFirst())))
