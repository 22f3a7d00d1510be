import Linux

CurrentProcess.end(StackOrigin.run(Array(CommandLine.arguments.dropFirst())))
